# bash completion of holdfast(1). Written by tools/shell_completions.py from `holdfast reference commands`; do not edit.

# The commands and flags below a command, in $commands and $flags.
_holdfast_words() {
  case $1 in
    'holdfast')
      commands='run doctor config fault fabric simulate trace predict calibrate plan collective study reference'
      flags='-h --help --version'
      ;;
    'holdfast run')
      commands=''
      flags='-h --help -n --ranks --launcher --launcher-args --mpi --hostfile --slots --colocate --same-memory --hold-output --transport --rails --time-limit --output --keep --json --record --config --dry-run -q --quiet -r --replicas --protocol --collectives --inject --seed --map --on-corruption --on-failure --tolerate --files-may-differ --silence-limit --same-thread-order --chain --replicate.degree --replicate.protocol --replicate.digest --replicate.on-corruption --replicate.on-failure --replicate.collectives --replicate.collective-entry --replicate.clocks --replicate.clear-blocks --replicate.files --replicate.files-may-differ --replicate.random --replicate.identity --replicate.shared-records --replicate.chain --replicate.same-thread-order --replicate.inject --replicate.seed --replicate.map --replicate.tolerate --replicate.silence-limit'
      ;;
    'holdfast doctor')
      commands=''
      flags='-h --help --json --test'
      ;;
    'holdfast config')
      commands='list explain check'
      flags='-h --help'
      ;;
    'holdfast config list')
      commands=''
      flags='-h --help'
      ;;
    'holdfast config explain')
      commands=''
      flags='-h --help --config'
      ;;
    'holdfast config check')
      commands=''
      flags='-h --help'
      ;;
    'holdfast fault')
      commands='check'
      flags='-h --help'
      ;;
    'holdfast fault check')
      commands=''
      flags='-h --help'
      ;;
    'holdfast fabric')
      commands='generate import export show fail ageing route check compare diff'
      flags='-h --help'
      ;;
    'holdfast fabric generate')
      commands=''
      flags='-h --help --to -o --output --list --json'
      ;;
    'holdfast fabric import')
      commands=''
      flags='-h --help --tables --sl2vl --path-records -o --output --strict --json'
      ;;
    'holdfast fabric export')
      commands=''
      flags='-h --help --to -o --output --tables --sl2vl --path-records'
      ;;
    'holdfast fabric show')
      commands=''
      flags='-h --help --svg --json'
      ;;
    'holdfast fabric fail')
      commands=''
      flags='-h --help --faults --at --years --link-rate --switch-rate --switch-link-ratio --hca-rate --shape --seed --critical --what-if --engine --lanes --tables --sl2vl --path-records --to -o --output --json'
      ;;
    'holdfast fabric ageing')
      commands=''
      flags='-h --help --confidence --seed --json'
      ;;
    'holdfast fabric route')
      commands=''
      flags='-h --help --engine -o --out --output --sl2vl --path-records --paths --root --root-guids --torus-config --lanes --faults --seed --time-limit --threads --lost-routes --seeds --json'
      ;;
    'holdfast fabric check')
      commands=''
      flags='-h --help --tables --sl2vl --path-records --paths --healthy --engines --lanes --threads --json'
      ;;
    'holdfast fabric compare')
      commands=''
      flags='-h --help --engines --torus-config --lanes --time-limit --jobs --renumber --seed --paper-tables --small --json -q --quiet'
      ;;
    'holdfast fabric diff')
      commands=''
      flags='-h --help --json'
      ;;
    'holdfast simulate')
      commands=''
      flags='-h --help --fabric --fault --at --fault-seed --critical --not-rerouted --sm-trap --sm-sweep --sm-compute --sm-write --unreliable --plot --engine --tables --sl2vl --path-records --lanes --traffic --trace --place --ranks-per-host --hosts --host-file --collectives --compute-scale --mpi.collectives --mpi.progress --mpi.eager-limit --mpi.header --mpi.segment --mpi.send-overhead --mpi.receive-overhead --mpi.send-byte --mpi.receive-byte --mpi.reduce-byte --mpi.shared-eager-limit --mpi.shared-latency --mpi.shared-byte --replicas --protocol --place-replicas --inject --replay.digest-byte --replay.copy-byte --transport --transport.fragment-bytes --transport.checksum --transport.eager-bytes --transport.tick --transport.ack-delay --transport.ack-packets --transport.least-timeout --transport.most-timeout --transport.retransmission-limit --transport.local-timeout --transport.unreachable-after --transport.keepalive --transport.probe-interval --transport.window-bytes --transport.vfrag-window --transport.message-window --transport.eager-credit-bytes --transport.unexpected-bytes --transport.log-bytes --transport.secret-file --datagram.rails --datagram.queue --datagram.ahead --datagram.send-overhead --datagram.receive-overhead --datagram.send-byte --datagram.receive-byte --seed --limit --sweep --steps --json --speed --config --simulate.mtu --simulate.input-buffer --simulate.output-buffer --simulate.input-queues --simulate.input-sends --simulate.crossbar-speedup --simulate.switch-latency --simulate.link-slowdown --simulate.cable-length --simulate.propagation --simulate.pcie-generation --simulate.pcie-lanes --simulate.hiccup-period --simulate.hiccup --simulate.credit-update --simulate.hoq-life --simulate.vl-stall --simulate.vl-arbitration --simulate.ack-timeout --simulate.retry-count --simulate.ack-delay --simulate.hop-limit --simulate.deadlock-check --simulate.sample --simulate.confidence --simulate.steady-hosts --simulate.steady-width'
      ;;
    'holdfast trace')
      commands='show check convert'
      flags='-h --help'
      ;;
    'holdfast trace show')
      commands=''
      flags='-h --help --matrix --json'
      ;;
    'holdfast trace check')
      commands=''
      flags='-h --help'
      ;;
    'holdfast trace convert')
      commands=''
      flags='-h --help'
      ;;
    'holdfast predict')
      commands=''
      flags='-h --help --fabric --engines --tables --sl2vl --path-records --lanes --fail --seeds --placements --ranks-per-host --hosts --host-file --replicas --protocol --place-replicas --senders --collectives --inject --compute-scale --limit -d --database --json --page --workers --silence -q --quiet --config --mpi.collectives --mpi.progress --mpi.eager-limit --mpi.header --mpi.segment --mpi.send-overhead --mpi.receive-overhead --mpi.send-byte --mpi.receive-byte --mpi.reduce-byte --mpi.shared-eager-limit --mpi.shared-latency --mpi.shared-byte --replay.digest-byte --replay.copy-byte --transport.fragment-bytes --transport.checksum --transport.eager-bytes --transport.tick --transport.ack-delay --transport.ack-packets --transport.least-timeout --transport.most-timeout --transport.retransmission-limit --transport.local-timeout --transport.unreachable-after --transport.keepalive --transport.probe-interval --transport.window-bytes --transport.vfrag-window --transport.message-window --transport.eager-credit-bytes --transport.unexpected-bytes --transport.log-bytes --transport.secret-file --datagram.rails --datagram.queue --datagram.ahead --datagram.send-overhead --datagram.receive-overhead --datagram.send-byte --datagram.receive-byte --simulate.mtu --simulate.input-buffer --simulate.output-buffer --simulate.input-queues --simulate.input-sends --simulate.crossbar-speedup --simulate.switch-latency --simulate.link-slowdown --simulate.cable-length --simulate.propagation --simulate.pcie-generation --simulate.pcie-lanes --simulate.hiccup-period --simulate.hiccup --simulate.credit-update --simulate.hoq-life --simulate.vl-stall --simulate.vl-arbitration --simulate.ack-timeout --simulate.retry-count --simulate.ack-delay --simulate.hop-limit --simulate.deadlock-check --simulate.sample --simulate.confidence --simulate.steady-hosts --simulate.steady-width'
      ;;
    'holdfast calibrate')
      commands=''
      flags='-h --help --mpi --launcher -o --output'
      ;;
    'holdfast plan')
      commands=''
      flags='-h --help --tables --keys --json --html --seed'
      ;;
    'holdfast collective')
      commands='study'
      flags='-h --help'
      ;;
    'holdfast collective study')
      commands=''
      flags='-h --help --group --json --csv --threads'
      ;;
    'holdfast study')
      commands='run report merge'
      flags='-h --help'
      ;;
    'holdfast study run')
      commands=''
      flags='-h --help -d --database --group --share --workers --silence --json -q --quiet'
      ;;
    'holdfast study report')
      commands=''
      flags='-h --help --html --csv --plots --json'
      ;;
    'holdfast study merge')
      commands=''
      flags='-h --help'
      ;;
    'holdfast reference')
      commands='exit-codes options commands'
      flags='-h --help'
      ;;
    'holdfast reference exit-codes')
      commands=''
      flags='-h --help'
      ;;
    'holdfast reference options')
      commands=''
      flags='-h --help'
      ;;
    'holdfast reference commands')
      commands=''
      flags='-h --help'
      ;;
  esac
}

# What follows a flag of a command, in $value: a list, or FILE, FOLDER or OTHER; empty for a switch.
_holdfast_value() {
  case "$1 $2" in
    'holdfast run -n' | 'holdfast run --ranks') value='OTHER' ;;
    'holdfast run --launcher') value='OTHER' ;;
    'holdfast run --launcher-args') value='OTHER' ;;
    'holdfast run --mpi') value='OTHER' ;;
    'holdfast run --hostfile') value='FILE' ;;
    'holdfast run --slots') value='OTHER' ;;
    'holdfast run --rails') value='OTHER' ;;
    'holdfast run --time-limit') value='OTHER' ;;
    'holdfast run --output') value='FOLDER' ;;
    'holdfast run --json') value='FILE' ;;
    'holdfast run --record') value='FOLDER' ;;
    'holdfast run --config') value='FILE' ;;
    'holdfast run -r' | 'holdfast run --replicas') value='OTHER' ;;
    'holdfast run --protocol') value='OTHER' ;;
    'holdfast run --collectives') value='OTHER' ;;
    'holdfast run --inject') value='OTHER' ;;
    'holdfast run --seed') value='OTHER' ;;
    'holdfast run --map') value='FILE' ;;
    'holdfast run --on-corruption') value='OTHER' ;;
    'holdfast run --on-failure') value='OTHER' ;;
    'holdfast run --tolerate') value='OTHER' ;;
    'holdfast run --files-may-differ') value='OTHER' ;;
    'holdfast run --silence-limit') value='OTHER' ;;
    'holdfast run --replicate.degree') value='OTHER' ;;
    'holdfast run --replicate.protocol') value='msg-plus-hash msg-plus-vote all-to-all' ;;
    'holdfast run --replicate.digest') value='xxh3-128 xxh3-64 crc32c' ;;
    'holdfast run --replicate.on-corruption') value='stop report' ;;
    'holdfast run --replicate.on-failure') value='abort continue auto' ;;
    'holdfast run --replicate.collectives') value='native p2p' ;;
    'holdfast run --replicate.collective-entry') value='auto polled direct' ;;
    'holdfast run --replicate.clocks') value='on off' ;;
    'holdfast run --replicate.clear-blocks') value='on off' ;;
    'holdfast run --replicate.files') value='on off' ;;
    'holdfast run --replicate.files-may-differ') value='OTHER' ;;
    'holdfast run --replicate.random') value='on off' ;;
    'holdfast run --replicate.identity') value='on off' ;;
    'holdfast run --replicate.shared-records') value='on off' ;;
    'holdfast run --replicate.chain') value='on off' ;;
    'holdfast run --replicate.same-thread-order') value='on off' ;;
    'holdfast run --replicate.inject') value='OTHER' ;;
    'holdfast run --replicate.seed') value='OTHER' ;;
    'holdfast run --replicate.map') value='OTHER' ;;
    'holdfast run --replicate.tolerate') value='OTHER' ;;
    'holdfast run --replicate.silence-limit') value='OTHER' ;;
    'holdfast config explain --config') value='FILE' ;;
    'holdfast fabric generate --to') value='OTHER' ;;
    'holdfast fabric generate -o' | 'holdfast fabric generate --output') value='FILE' ;;
    'holdfast fabric import --tables') value='FILE' ;;
    'holdfast fabric import --sl2vl') value='FILE' ;;
    'holdfast fabric import --path-records') value='FILE' ;;
    'holdfast fabric import -o' | 'holdfast fabric import --output') value='FILE' ;;
    'holdfast fabric export --to') value='OTHER' ;;
    'holdfast fabric export -o' | 'holdfast fabric export --output') value='FILE' ;;
    'holdfast fabric export --tables') value='FILE' ;;
    'holdfast fabric export --sl2vl') value='FILE' ;;
    'holdfast fabric export --path-records') value='FILE' ;;
    'holdfast fabric show --svg') value='FILE' ;;
    'holdfast fabric fail --faults') value='OTHER' ;;
    'holdfast fabric fail --at') value='OTHER' ;;
    'holdfast fabric fail --years') value='OTHER' ;;
    'holdfast fabric fail --link-rate') value='OTHER' ;;
    'holdfast fabric fail --switch-rate') value='OTHER' ;;
    'holdfast fabric fail --switch-link-ratio') value='OTHER' ;;
    'holdfast fabric fail --hca-rate') value='OTHER' ;;
    'holdfast fabric fail --shape') value='OTHER' ;;
    'holdfast fabric fail --seed') value='OTHER' ;;
    'holdfast fabric fail --what-if') value='OTHER' ;;
    'holdfast fabric fail --engine') value='OTHER' ;;
    'holdfast fabric fail --lanes') value='OTHER' ;;
    'holdfast fabric fail --tables') value='FILE' ;;
    'holdfast fabric fail --sl2vl') value='FILE' ;;
    'holdfast fabric fail --path-records') value='FILE' ;;
    'holdfast fabric fail --to') value='OTHER' ;;
    'holdfast fabric fail -o' | 'holdfast fabric fail --output') value='FILE' ;;
    'holdfast fabric ageing --confidence') value='OTHER' ;;
    'holdfast fabric ageing --seed') value='OTHER' ;;
    'holdfast fabric route --engine') value='OTHER' ;;
    'holdfast fabric route -o' | 'holdfast fabric route --out' | 'holdfast fabric route --output') value='FILE' ;;
    'holdfast fabric route --sl2vl') value='FILE' ;;
    'holdfast fabric route --path-records' | 'holdfast fabric route --paths') value='FILE' ;;
    'holdfast fabric route --root') value='OTHER' ;;
    'holdfast fabric route --root-guids') value='FILE' ;;
    'holdfast fabric route --torus-config') value='FILE' ;;
    'holdfast fabric route --lanes') value='OTHER' ;;
    'holdfast fabric route --faults') value='OTHER' ;;
    'holdfast fabric route --seed') value='OTHER' ;;
    'holdfast fabric route --time-limit') value='OTHER' ;;
    'holdfast fabric route --threads') value='OTHER' ;;
    'holdfast fabric route --lost-routes') value='links switches' ;;
    'holdfast fabric route --seeds') value='OTHER' ;;
    'holdfast fabric check --tables') value='FILE' ;;
    'holdfast fabric check --sl2vl') value='FILE' ;;
    'holdfast fabric check --path-records' | 'holdfast fabric check --paths') value='FILE' ;;
    'holdfast fabric check --healthy') value='FILE' ;;
    'holdfast fabric check --engines') value='OTHER' ;;
    'holdfast fabric check --lanes') value='OTHER' ;;
    'holdfast fabric check --threads') value='OTHER' ;;
    'holdfast fabric compare --engines') value='OTHER' ;;
    'holdfast fabric compare --torus-config') value='FILE' ;;
    'holdfast fabric compare --lanes') value='OTHER' ;;
    'holdfast fabric compare --time-limit') value='OTHER' ;;
    'holdfast fabric compare --jobs') value='OTHER' ;;
    'holdfast fabric compare --renumber') value='OTHER' ;;
    'holdfast fabric compare --seed') value='OTHER' ;;
    'holdfast simulate --fabric') value='FILE' ;;
    'holdfast simulate --fault') value='OTHER' ;;
    'holdfast simulate --at') value='OTHER' ;;
    'holdfast simulate --fault-seed') value='OTHER' ;;
    'holdfast simulate --sm-trap') value='OTHER' ;;
    'holdfast simulate --sm-sweep') value='OTHER' ;;
    'holdfast simulate --sm-compute') value='OTHER' ;;
    'holdfast simulate --sm-write') value='OTHER' ;;
    'holdfast simulate --plot') value='FILE' ;;
    'holdfast simulate --engine') value='OTHER' ;;
    'holdfast simulate --tables') value='FILE' ;;
    'holdfast simulate --sl2vl') value='FILE' ;;
    'holdfast simulate --path-records') value='FILE' ;;
    'holdfast simulate --lanes') value='OTHER' ;;
    'holdfast simulate --traffic') value='OTHER' ;;
    'holdfast simulate --trace') value='FILE' ;;
    'holdfast simulate --place') value='OTHER' ;;
    'holdfast simulate --ranks-per-host') value='OTHER' ;;
    'holdfast simulate --hosts') value='OTHER' ;;
    'holdfast simulate --host-file') value='FILE' ;;
    'holdfast simulate --collectives') value='OTHER' ;;
    'holdfast simulate --compute-scale') value='OTHER' ;;
    'holdfast simulate --mpi.collectives') value='openmpi mpich' ;;
    'holdfast simulate --mpi.progress') value='calls always' ;;
    'holdfast simulate --mpi.eager-limit') value='OTHER' ;;
    'holdfast simulate --mpi.header') value='OTHER' ;;
    'holdfast simulate --mpi.segment') value='OTHER' ;;
    'holdfast simulate --mpi.send-overhead') value='OTHER' ;;
    'holdfast simulate --mpi.receive-overhead') value='OTHER' ;;
    'holdfast simulate --mpi.send-byte') value='OTHER' ;;
    'holdfast simulate --mpi.receive-byte') value='OTHER' ;;
    'holdfast simulate --mpi.reduce-byte') value='OTHER' ;;
    'holdfast simulate --mpi.shared-eager-limit') value='OTHER' ;;
    'holdfast simulate --mpi.shared-latency') value='OTHER' ;;
    'holdfast simulate --mpi.shared-byte') value='OTHER' ;;
    'holdfast simulate --replicas') value='OTHER' ;;
    'holdfast simulate --protocol') value='OTHER' ;;
    'holdfast simulate --place-replicas') value='OTHER' ;;
    'holdfast simulate --inject') value='OTHER' ;;
    'holdfast simulate --replay.digest-byte') value='OTHER' ;;
    'holdfast simulate --replay.copy-byte') value='OTHER' ;;
    'holdfast simulate --transport.fragment-bytes') value='OTHER' ;;
    'holdfast simulate --transport.checksum') value='none sum fletcher64 crc32c xxh3-64' ;;
    'holdfast simulate --transport.eager-bytes') value='OTHER' ;;
    'holdfast simulate --transport.tick') value='OTHER' ;;
    'holdfast simulate --transport.ack-delay') value='OTHER' ;;
    'holdfast simulate --transport.ack-packets') value='OTHER' ;;
    'holdfast simulate --transport.least-timeout') value='OTHER' ;;
    'holdfast simulate --transport.most-timeout') value='OTHER' ;;
    'holdfast simulate --transport.retransmission-limit') value='OTHER' ;;
    'holdfast simulate --transport.local-timeout') value='OTHER' ;;
    'holdfast simulate --transport.unreachable-after') value='OTHER' ;;
    'holdfast simulate --transport.keepalive') value='OTHER' ;;
    'holdfast simulate --transport.probe-interval') value='OTHER' ;;
    'holdfast simulate --transport.window-bytes') value='OTHER' ;;
    'holdfast simulate --transport.vfrag-window') value='OTHER' ;;
    'holdfast simulate --transport.message-window') value='OTHER' ;;
    'holdfast simulate --transport.eager-credit-bytes') value='OTHER' ;;
    'holdfast simulate --transport.unexpected-bytes') value='OTHER' ;;
    'holdfast simulate --transport.log-bytes') value='OTHER' ;;
    'holdfast simulate --transport.secret-file') value='OTHER' ;;
    'holdfast simulate --datagram.rails') value='OTHER' ;;
    'holdfast simulate --datagram.queue') value='OTHER' ;;
    'holdfast simulate --datagram.ahead') value='OTHER' ;;
    'holdfast simulate --datagram.send-overhead') value='OTHER' ;;
    'holdfast simulate --datagram.receive-overhead') value='OTHER' ;;
    'holdfast simulate --datagram.send-byte') value='OTHER' ;;
    'holdfast simulate --datagram.receive-byte') value='OTHER' ;;
    'holdfast simulate --seed') value='OTHER' ;;
    'holdfast simulate --limit') value='OTHER' ;;
    'holdfast simulate --steps') value='OTHER' ;;
    'holdfast simulate --json') value='FILE' ;;
    'holdfast simulate --config') value='FILE' ;;
    'holdfast simulate --simulate.mtu') value='OTHER' ;;
    'holdfast simulate --simulate.input-buffer') value='OTHER' ;;
    'holdfast simulate --simulate.output-buffer') value='OTHER' ;;
    'holdfast simulate --simulate.input-queues') value='lane output' ;;
    'holdfast simulate --simulate.input-sends') value='OTHER' ;;
    'holdfast simulate --simulate.crossbar-speedup') value='OTHER' ;;
    'holdfast simulate --simulate.switch-latency') value='OTHER' ;;
    'holdfast simulate --simulate.link-slowdown') value='OTHER' ;;
    'holdfast simulate --simulate.cable-length') value='OTHER' ;;
    'holdfast simulate --simulate.propagation') value='OTHER' ;;
    'holdfast simulate --simulate.pcie-generation') value='OTHER' ;;
    'holdfast simulate --simulate.pcie-lanes') value='OTHER' ;;
    'holdfast simulate --simulate.hiccup-period') value='OTHER' ;;
    'holdfast simulate --simulate.hiccup') value='OTHER' ;;
    'holdfast simulate --simulate.credit-update') value='OTHER' ;;
    'holdfast simulate --simulate.hoq-life') value='OTHER' ;;
    'holdfast simulate --simulate.vl-stall') value='OTHER' ;;
    'holdfast simulate --simulate.vl-arbitration') value='OTHER' ;;
    'holdfast simulate --simulate.ack-timeout') value='OTHER' ;;
    'holdfast simulate --simulate.retry-count') value='OTHER' ;;
    'holdfast simulate --simulate.ack-delay') value='OTHER' ;;
    'holdfast simulate --simulate.hop-limit') value='OTHER' ;;
    'holdfast simulate --simulate.deadlock-check') value='OTHER' ;;
    'holdfast simulate --simulate.sample') value='OTHER' ;;
    'holdfast simulate --simulate.confidence') value='OTHER' ;;
    'holdfast simulate --simulate.steady-hosts') value='OTHER' ;;
    'holdfast simulate --simulate.steady-width') value='OTHER' ;;
    'holdfast trace show --matrix') value='FILE' ;;
    'holdfast trace show --json') value='FILE' ;;
    'holdfast predict --fabric') value='FILE' ;;
    'holdfast predict --engines') value='OTHER' ;;
    'holdfast predict --tables') value='FILE' ;;
    'holdfast predict --sl2vl') value='FILE' ;;
    'holdfast predict --path-records') value='FILE' ;;
    'holdfast predict --lanes') value='OTHER' ;;
    'holdfast predict --fail') value='OTHER' ;;
    'holdfast predict --seeds') value='OTHER' ;;
    'holdfast predict --placements') value='OTHER' ;;
    'holdfast predict --ranks-per-host') value='OTHER' ;;
    'holdfast predict --hosts') value='OTHER' ;;
    'holdfast predict --host-file') value='FILE' ;;
    'holdfast predict --replicas') value='OTHER' ;;
    'holdfast predict --protocol') value='OTHER' ;;
    'holdfast predict --place-replicas') value='OTHER' ;;
    'holdfast predict --senders') value='OTHER' ;;
    'holdfast predict --collectives') value='OTHER' ;;
    'holdfast predict --inject') value='OTHER' ;;
    'holdfast predict --compute-scale') value='OTHER' ;;
    'holdfast predict --limit') value='OTHER' ;;
    'holdfast predict -d' | 'holdfast predict --database') value='FILE' ;;
    'holdfast predict --json') value='FILE' ;;
    'holdfast predict --page') value='FILE' ;;
    'holdfast predict --workers') value='OTHER' ;;
    'holdfast predict --silence') value='OTHER' ;;
    'holdfast predict --config') value='FILE' ;;
    'holdfast predict --mpi.collectives') value='openmpi mpich' ;;
    'holdfast predict --mpi.progress') value='calls always' ;;
    'holdfast predict --mpi.eager-limit') value='OTHER' ;;
    'holdfast predict --mpi.header') value='OTHER' ;;
    'holdfast predict --mpi.segment') value='OTHER' ;;
    'holdfast predict --mpi.send-overhead') value='OTHER' ;;
    'holdfast predict --mpi.receive-overhead') value='OTHER' ;;
    'holdfast predict --mpi.send-byte') value='OTHER' ;;
    'holdfast predict --mpi.receive-byte') value='OTHER' ;;
    'holdfast predict --mpi.reduce-byte') value='OTHER' ;;
    'holdfast predict --mpi.shared-eager-limit') value='OTHER' ;;
    'holdfast predict --mpi.shared-latency') value='OTHER' ;;
    'holdfast predict --mpi.shared-byte') value='OTHER' ;;
    'holdfast predict --replay.digest-byte') value='OTHER' ;;
    'holdfast predict --replay.copy-byte') value='OTHER' ;;
    'holdfast predict --transport.fragment-bytes') value='OTHER' ;;
    'holdfast predict --transport.checksum') value='none sum fletcher64 crc32c xxh3-64' ;;
    'holdfast predict --transport.eager-bytes') value='OTHER' ;;
    'holdfast predict --transport.tick') value='OTHER' ;;
    'holdfast predict --transport.ack-delay') value='OTHER' ;;
    'holdfast predict --transport.ack-packets') value='OTHER' ;;
    'holdfast predict --transport.least-timeout') value='OTHER' ;;
    'holdfast predict --transport.most-timeout') value='OTHER' ;;
    'holdfast predict --transport.retransmission-limit') value='OTHER' ;;
    'holdfast predict --transport.local-timeout') value='OTHER' ;;
    'holdfast predict --transport.unreachable-after') value='OTHER' ;;
    'holdfast predict --transport.keepalive') value='OTHER' ;;
    'holdfast predict --transport.probe-interval') value='OTHER' ;;
    'holdfast predict --transport.window-bytes') value='OTHER' ;;
    'holdfast predict --transport.vfrag-window') value='OTHER' ;;
    'holdfast predict --transport.message-window') value='OTHER' ;;
    'holdfast predict --transport.eager-credit-bytes') value='OTHER' ;;
    'holdfast predict --transport.unexpected-bytes') value='OTHER' ;;
    'holdfast predict --transport.log-bytes') value='OTHER' ;;
    'holdfast predict --transport.secret-file') value='OTHER' ;;
    'holdfast predict --datagram.rails') value='OTHER' ;;
    'holdfast predict --datagram.queue') value='OTHER' ;;
    'holdfast predict --datagram.ahead') value='OTHER' ;;
    'holdfast predict --datagram.send-overhead') value='OTHER' ;;
    'holdfast predict --datagram.receive-overhead') value='OTHER' ;;
    'holdfast predict --datagram.send-byte') value='OTHER' ;;
    'holdfast predict --datagram.receive-byte') value='OTHER' ;;
    'holdfast predict --simulate.mtu') value='OTHER' ;;
    'holdfast predict --simulate.input-buffer') value='OTHER' ;;
    'holdfast predict --simulate.output-buffer') value='OTHER' ;;
    'holdfast predict --simulate.input-queues') value='lane output' ;;
    'holdfast predict --simulate.input-sends') value='OTHER' ;;
    'holdfast predict --simulate.crossbar-speedup') value='OTHER' ;;
    'holdfast predict --simulate.switch-latency') value='OTHER' ;;
    'holdfast predict --simulate.link-slowdown') value='OTHER' ;;
    'holdfast predict --simulate.cable-length') value='OTHER' ;;
    'holdfast predict --simulate.propagation') value='OTHER' ;;
    'holdfast predict --simulate.pcie-generation') value='OTHER' ;;
    'holdfast predict --simulate.pcie-lanes') value='OTHER' ;;
    'holdfast predict --simulate.hiccup-period') value='OTHER' ;;
    'holdfast predict --simulate.hiccup') value='OTHER' ;;
    'holdfast predict --simulate.credit-update') value='OTHER' ;;
    'holdfast predict --simulate.hoq-life') value='OTHER' ;;
    'holdfast predict --simulate.vl-stall') value='OTHER' ;;
    'holdfast predict --simulate.vl-arbitration') value='OTHER' ;;
    'holdfast predict --simulate.ack-timeout') value='OTHER' ;;
    'holdfast predict --simulate.retry-count') value='OTHER' ;;
    'holdfast predict --simulate.ack-delay') value='OTHER' ;;
    'holdfast predict --simulate.hop-limit') value='OTHER' ;;
    'holdfast predict --simulate.deadlock-check') value='OTHER' ;;
    'holdfast predict --simulate.sample') value='OTHER' ;;
    'holdfast predict --simulate.confidence') value='OTHER' ;;
    'holdfast predict --simulate.steady-hosts') value='OTHER' ;;
    'holdfast predict --simulate.steady-width') value='OTHER' ;;
    'holdfast calibrate --mpi') value='openmpi mpich' ;;
    'holdfast calibrate --launcher') value='OTHER' ;;
    'holdfast calibrate -o' | 'holdfast calibrate --output') value='FILE' ;;
    'holdfast plan --tables') value='redmpi' ;;
    'holdfast plan --html') value='FILE' ;;
    'holdfast plan --seed') value='OTHER' ;;
    'holdfast collective study --group') value='OTHER' ;;
    'holdfast collective study --json') value='FILE' ;;
    'holdfast collective study --csv') value='FILE' ;;
    'holdfast collective study --threads') value='OTHER' ;;
    'holdfast study run -d' | 'holdfast study run --database') value='FILE' ;;
    'holdfast study run --group') value='OTHER' ;;
    'holdfast study run --share') value='OTHER' ;;
    'holdfast study run --workers') value='OTHER' ;;
    'holdfast study run --silence') value='OTHER' ;;
    'holdfast study report --html') value='FILE' ;;
    'holdfast study report --csv') value='FILE' ;;
    'holdfast study report --plots') value='FOLDER' ;;
  esac
}

_holdfast() {
  local word=${COMP_WORDS[COMP_CWORD]} path=holdfast commands flags value at before
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; ++at)); do
    before=${COMP_WORDS[at]}
    if [[ $before == -- ]]; then  # the program and its arguments
      compopt -o default 2> /dev/null
      return
    fi
    commands='' flags=''
    _holdfast_words "$path"
    [[ " $commands " != *" $before "* ]] || path+=" $before"
  done
  commands='' flags='' value=''
  _holdfast_words "$path"
  _holdfast_value "$path" "${COMP_WORDS[COMP_CWORD - 1]}"
  case $value in
    OTHER) return ;;
    FILE) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    FOLDER) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    '')
      if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
      elif [[ -n $commands ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$value" -- "$word") ;;
  esac
}
complete -o filenames -F _holdfast holdfast
