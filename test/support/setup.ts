// Imported once for each process, while this file is read for each test file.
import './equal-bytes.ts';
