import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSecret, signatures } from '../../src/receivers/transports/signature.ts';
import { freePort } from '../support/free-port.ts';
import { declareTypes, installedCheckout, PACKAGE, projectWith } from '../support/package.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { type Block, type Page, ROOT, readPages } from './pages.ts';
import { Reader } from './reader.ts';

/** Time limit for a block, in milliseconds, on a busy machine. */
const MAX_BLOCK_MS = 600_000;
/** Languages of fenced blocks: programs, which run; JSON, which must parse; and text. */
const LANGUAGES = ['sh', 'ts', 'json', 'text'];

const pages = readPages();

beforeAll(() => declareTypes(PACKAGE));

describe('fenced blocks', () => {
  it.each(pages)('knows the language of each block: $path', ({ blocks }) => {
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
  });

  it.each(pages)('finds an end for each block: $path', ({ text, blocks }) => {
    expect(text.match(/^```/gm) ?? []).toHaveLength(blocks.length * 2);
  });
});

const withPrograms = pages.filter(({ blocks }) => blocks.some(isProgram));
/** Pages that start services, or read the files of one, are read alone; the others share a service. */
const { alone = [], together = [] } = Object.groupBy(withPrograms, ({ blocks }) =>
  blocks.filter(isProgram).some((block) => startsService(block) || readsFiles(block)) ? 'alone' : 'together',
);

for (const read of [...alone.map((page) => [page]), together].filter(({ length }) => length > 0)) {
  describe('examples with one service', () => {
    let reader: Reader;

    beforeAll(async () => {
      reader = await Reader.start();
    });

    afterAll(() => reader?.[Symbol.asyncDispose]());

    describe.each(read)('in $path', (page) => {
      beforeAll(() => reader.enter(page.path === 'README.md' ? installedCheckout : (dir) => projectWith(PACKAGE, dir)));

      it.each(page.blocks.filter(isProgram))('runs line $line', { timeout: MAX_BLOCK_MS }, async (block) => {
        if (block.language === 'ts') await runTypeScript(reader, block);
        else if (startsService(block)) await reader.serve(block.code);
        else if (followsEvents(block)) await reader.follow(block.code);
        else await runShell(reader, page, block);
      });
    });
  });
}

describe('TypeScript examples', () => {
  let dir: string;

  beforeAll(async () => {
    dir = await makeDirectory();
    await projectWith(PACKAGE, dir);
  });

  it('type-checks examples against the package under the strict options of this project', async () => {
    const examples = pages.flatMap(({ path, blocks }) =>
      blocks
        .filter(isTypeScript)
        .map(({ line, code }) => ({ name: `${path.replaceAll(/\W/g, '-')}-${line}.ts`, code })),
    );
    await Promise.all(examples.map(({ name, code }) => writeFile(join(dir, name), code)));
    await writeFile(
      join(dir, 'tsconfig.json'),
      JSON.stringify({
        extends: join(ROOT, 'tsconfig.json'),
        compilerOptions: { paths: {}, erasableSyntaxOnly: true },
        include: ['*.ts'],
      }),
    );
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', dir]).catch((error) => error);
    expect(stdout).toBe('');
    expect(examples.length).toBeGreaterThan(0);
  });
});

async function runShell(reader: Reader, page: Page, block: Block): Promise<void> {
  const documented = documentedAnswer(page, block);
  const { code, stdout, stderr } = await reader.run(block.code);
  if (documented === undefined) {
    // A block that succeeds may print anything.
    expect(code === 0 ? '' : `exit code ${code}: ${stdout}${stderr}`).toBe('');
  } else {
    const answer: unknown = JSON.parse(stdout);
    expect(answer).toEqual({ ...documented, request_id: expect.any(String) });
  }
}

async function runTypeScript(reader: Reader, { code, line }: Block): Promise<void> {
  const name = `example-${line}.ts`;
  if (code.includes('createServer(')) {
    await expectReceiver(reader, name, code);
  } else {
    const ended = await reader.runProgram(name, code);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).not.toBe('');
    expect(ended.stdout).not.toMatch(/\b(?:failed|rejected|timed_out)\b/);
  }
}

/** Asserts that the documented webhook receiver accepts only messages that are signed with its secret. */
async function expectReceiver(reader: Reader, name: string, code: string): Promise<void> {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const port = await freePort();
  await reader.serveProgram(name, code, { CAPSTAN_WEBHOOK_SECRET: secret, PORT: String(port) }, async () => {
    const body = JSON.stringify({ type: 'capture.stored' });
    const send = async (key: Buffer, timestamp: number): Promise<number> => {
      const headers = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures([key], { id: 'msg_1', timestamp, body }),
      };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
    };
    const now = Math.floor(Date.now() / 1000);
    expect(await send(readSecret(secret), now)).toBe(204);
    expect(await send(Buffer.alloc(32, 8), now)).toBe(401);
    expect(await send(readSecret(secret), now - 3600)).toBe(401);
  });
}

function isProgram({ language }: Block): boolean {
  return language === 'sh' || language === 'ts';
}

function isTypeScript({ language }: Block): boolean {
  return language === 'ts';
}

function startsService({ code }: Block): boolean {
  return /npm start|capstan (?:-- )?serve(?!.*--print-config)|createService\(/.test(code);
}

function readsFiles({ code }: Block): boolean {
  return code.includes('--db-path');
}

function followsEvents({ code }: Block): boolean {
  return /^curl -N .*\/events/m.test(code);
}

/** Returns the JSON after a block, which documents its answer. */
function documentedAnswer(page: Page, block: Block): object | undefined {
  const next = page.blocks[page.blocks.indexOf(block) + 1];
  return next?.language === 'json' ? JSON.parse(next.code) : undefined;
}
