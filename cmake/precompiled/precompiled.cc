// The precompiled headers belong to this file's targets; layers and test programs use them.
int main() { return 0; }
