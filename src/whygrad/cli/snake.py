"""placeholder"""
HELP = "x"
def main(argv): return 2
