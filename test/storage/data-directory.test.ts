import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openParts } from './parts.ts';

describe('a data directory that cannot be created', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-test-'));
    await writeFile(join(directory, 'data'), 'a file in its place');
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('makes the start fail, with or without a database', async () => {
    await expect(openParts(directory, { database: false })).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
