holdfast: reading the topology 'rails(2,4,2,2;2,4294967295)' column 17: a number above 1000000000: write rails(r,n,u,s) or (r,n,u,s;p,c)
