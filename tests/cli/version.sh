# The lines that follow say what this build reads, which differs.
tscope --version >version.txt && head -n 1 version.txt
