import { parentPort, workerData } from 'node:worker_threads';
import { comparePixels } from './compare-pixels.ts';
import { decode } from './decode.ts';

/* Runs in a thread of its own: compares two image files, and sends the difference, or null when one is too large. */

const files: readonly [Uint8Array, Uint8Array] = workerData;
const a = await decode(files[0]);
const b = a === null ? null : await decode(files[1]);
parentPort?.postMessage(a === null || b === null ? null : comparePixels(a, b));
