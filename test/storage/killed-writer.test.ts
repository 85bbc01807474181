import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer, text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { idsOldestFirst } from '../../src/storage/files/ids-by-time.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { HTML, openParts, type Parts } from './parts.ts';
import { EVIDENCE } from './result-of.ts';

describe('a process killed while it stores captures', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await makeDirectory();
  });

  /** Kills the process after this many answers; returns all ids that it answered. */
  async function writeUntil(answers: number, node: number): Promise<number[]> {
    const script = join(import.meta.dirname, 'killed-writer.ts');
    const child: ChildProcess = spawn(process.execPath, ['--no-warnings', script, directory, String(node)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    const answered: number[] = [];
    if (child.stdout === null) throw new Error('the child has no output');
    for await (const line of createInterface({ input: child.stdout })) {
      answered.push(Number(line));
      if (answered.length === answers) child.kill('SIGKILL');
    }
    await exit;
    return answered;
  }

  async function expectWhole({ artifacts, results }: Parts, id: number): Promise<void> {
    const record = await results.get(id);
    if (record === undefined) throw new Error(`${id} was answered, and has no record`);
    expect(record.evidence).toEqual(EVIDENCE);
    if (record.failed) return;
    const image = await artifacts.open(id, 'image');
    if (image === undefined) throw new Error(`${id} was answered, and has no image`);
    const bytes = await buffer(image.stream());
    expect(bytes.length).toBe(image.info.bytes);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(image.info.sha256);
    const html = await artifacts.open(id, 'html');
    expect(html && (await text(html.stream()))).toBe(HTML);
  }

  it('loses no answered capture, leaves no file without a record and none half indexed, whenever it is killed', async () => {
    const answered: number[] = [];
    for (const [at, answers] of [1, 5, 17, 40].entries()) answered.push(...(await writeUntil(answers, at)));
    expect(answered.length).toBeGreaterThanOrEqual(63);

    const parts = await openParts(directory);
    await expect.poll(() => parts.captureStore.pending).toBe(0);
    for (const id of answered) await expectWhole(parts, id);

    const kept: number[] = [];
    for await (const id of idsOldestFirst(parts.data.path)) kept.push(id);
    const records = await parts.results.page({ by: 'all' }, 1000);
    const failed = new Set(records.filter((record) => record.failed).map(({ id }) => id));
    const stored = records.filter((record) => !record.failed).map(({ id }) => id);
    expect(kept.filter((id) => !failed.has(id))).toEqual(stored.toSorted((a, b) => a - b));
    // The file of a failed capture is written after its record, and before the answer.
    expect(answered.filter((id) => failed.has(id) && !kept.includes(id))).toEqual([]);
    for (const id of stored) await expectWhole(parts, id);
    const found = await parts.results.page({ by: 'all', where: { words: '"word0 word1" word1999' } }, 1000);
    expect(found.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(stored.toSorted((a, b) => a - b));
    expect(await parts.results.indexed(1000)).toEqual(stored.toSorted((a, b) => a - b));

    await parts.close();
    expect(parts.problems).toEqual([]);
    expect(await readdir(join(parts.data.path, 'workspaces'))).toEqual([]);
  });
});
