import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { JobStore } from '../storage/ports/job-store.ts';
import { type Expansion, readEntry, type ScanTarget, targetsOf } from '../targets/entry.ts';
import { SeenTargets } from '../targets/seen-targets.ts';

/*
 * The list of a scan as it is stored: parts of lines, each a target, a network or a range as lists write it. It is
 * expanded while it is read, so that neither the sender's list nor a network is ever in memory as a whole.
 */

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Size of a part before compression, in characters. */
const PART_CHARACTERS = 64 * 1024;
/** Number of targets of which it is asked at once whether they have an outcome. */
const ASKED_TOGETHER = 1_000;

/** A target with its position in the scan. */
interface PlacedTarget extends ScanTarget {
  readonly index: number;
}

/** Writes lines as the parts of a job's list. */
export class ListWriter {
  readonly #put: (part: number, bytes: Uint8Array) => Promise<void>;
  #lines: string[] = [];
  #characters = 0;
  #parts = 0;
  /** Bytes written. */
  bytes = 0;

  constructor(store: Pick<JobStore, 'putList'>, id: string) {
    this.#put = (part, bytes) => store.putList(id, part, bytes);
  }

  async add(lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      this.#lines.push(line);
      this.#characters += line.length;
      if (this.#characters >= PART_CHARACTERS) await this.end();
    }
  }

  /** Writes what is left. */
  async end(): Promise<void> {
    if (this.#lines.length === 0) return;
    const bytes = await compress(this.#lines.join('\n'));
    await this.#put(this.#parts, bytes);
    this.bytes += bytes.byteLength;
    this.#parts += 1;
    this.#lines = [];
    this.#characters = 0;
  }
}

/** Generates the targets of a job's list that have no outcome yet, in the order of the list. */
export async function* targetsLeft(
  store: Pick<JobStore, 'list' | 'done'>,
  id: string,
  expansion: Expansion,
): AsyncGenerator<PlacedTarget, void, undefined> {
  let index = 0;
  let together: PlacedTarget[] = [];
  const seen = new SeenTargets();
  const undone = async (): Promise<readonly PlacedTarget[]> => {
    const asked = together;
    together = [];
    const done = new Set(await store.done(id, asked[0]?.index ?? index, index));
    return asked.filter((target) => !done.has(target.index));
  };
  for (let part = 0; ; part += 1) {
    const bytes = await store.list(id, part);
    if (bytes === undefined) break;
    for (const line of (await decompress(bytes)).toString().split('\n')) {
      const entry = readEntry(line);
      if ('problem' in entry) throw new Error(`the stored list of job ${id} has a line that ${entry.problem}`);
      for (const target of targetsOf(entry, expansion)) {
        if (!seen.add(target)) continue;
        together.push({ ...target, index });
        index += 1;
        if (together.length >= ASKED_TOGETHER) yield* await undone();
      }
    }
  }
  yield* await undone();
}
