"""Line plots as SVG files that need nothing from outside. Standard library only."""
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 340, 64, 14, 34, 74
COLOURS = ("#1f6fb4", "#d9662c", "#3a9a4b", "#8456b8", "#7a7a7a", "#b8860b", "#c23b6b", "#2a9d9d")


def escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;")


def step_of(top):
    """A round number of which four to eight make `top`."""
    power = 10 ** math.floor(math.log10(top))
    return next(step for step in (power / 5, power / 2, power, power * 2) if top / step <= 8)


def write(path, title, x_name, y_name, series, x_ticks=None, x_log=False, marks=()):
    """series: (name, [(x, y)]); x_ticks: (value, text), needed with x_log; marks: (x, text) for vertical lines."""
    points = [point for _, line in series for point in line]
    lows, highs = min(x for x, _ in points), max(x for x, _ in points)
    top = max(y for _, y in points) or 1
    rows = math.ceil(top / step_of(top) - 1e-9)

    def across(x):
        share = math.log(x / lows) / math.log(highs / lows) if x_log else (x - lows) / (highs - lows)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def down(y):
        return HEIGHT - BOTTOM - y / (rows * step_of(top)) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             'font-size="11"><rect width="100%" height="100%" fill="white"/>']

    def text(x, y, words, anchor="start", size=11):
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="#222">'
                     f'{escape(words)}</text>')

    def line(x1, y1, x2, y2, stroke="#ddd", dash=""):
        parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"{dash}/>')

    text(WIDTH / 2, 18, title, "middle", 13)
    for row in range(rows + 1):
        y = down(row * step_of(top))
        line(LEFT, y, WIDTH - RIGHT, y)
        text(LEFT - 6, y + 4, f"{row * step_of(top):g}", "end")
    if not x_ticks:
        step = step_of(highs - lows)
        x_ticks = [(lows + n * step, f"{lows + n * step:g}") for n in range(int((highs - lows) / step + 1e-9) + 1)]
    for value, words in x_ticks:
        line(across(value), HEIGHT - BOTTOM, across(value), HEIGHT - BOTTOM + 4, "#888")
        text(across(value), HEIGHT - BOTTOM + 16, words, "middle")
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 32, x_name, "middle")
    text(8, TOP - 8, y_name)
    for value, words in marks:
        line(across(value), TOP, across(value), HEIGHT - BOTTOM, "#a33", ' stroke-dasharray="4 3"')
        text(across(value) + 3, TOP + 10, words, size=10)
    at = LEFT
    for number, (name, values) in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        where = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in values)
        parts.append(f'<polyline points="{where}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<rect x="{at}" y="{HEIGHT - 20}" width="10" height="10" fill="{colour}"/>')
        text(at + 14, HEIGHT - 11, name)
        at += 30 + 6.3 * len(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n</svg>\n")
