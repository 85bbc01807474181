import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from '../support/temporary-directory.ts';
import { openParts } from './parts.ts';

describe('a data directory that cannot be created', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await makeDirectory();
    await writeFile(join(directory, 'data'), 'a file in its place');
  });

  it('makes the start fail, with or without a database', async () => {
    await expect(openParts(directory, { database: false })).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
