import { beforeAll, expect } from 'vitest';
import { turnOf } from './busy-files.ts';
// Imported once for each process, while this file is read for each test file.
import './equal-bytes.ts';

/** Time limit for the turn of a file, in milliseconds: longer than the longest file. */
const TURN_MS = 15 * 60_000;

beforeAll(() => turnOf(expect.getState().testPath ?? ''), TURN_MS);
