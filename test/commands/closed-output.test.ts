import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { capstan, ground, launch } from './capstan-process.ts';
import { makePipe } from './unread-pipe.ts';

/** The exit code of a program that a closed pipe has ended. */
const CLOSED = 141;

describe('a command whose output is closed', () => {
  const site = siteForSuite();
  const app = serviceForSuite();
  const at = () => ['--server', app.baseUrl];

  /** Runs a command whose output has no reader. */
  async function unread(args: readonly string[]) {
    const place = await ground();
    using pipe = makePipe(place);
    const { child, stderr } = launch(args, { ...place.options, stdoutFd: pipe.writeFd });
    pipe.hangUp();
    child.stdin?.end();
    const [code] = await once(child, 'close');
    return { code, stderr: await stderr, place };
  }

  it('removes its watch and its query, and says nothing', async () => {
    const { code, stderr } = await unread(['watch', site.url('/short'), ...at(), '--every', '300d']);
    expect({ code, stderr }).toEqual({ code: CLOSED, stderr: '' });
    expect((await app.service.watches.list({ ofKey: undefined, label: undefined, after: 0, limit: 9 })).items).toEqual(
      [],
    );
    expect(await app.service.queries.newest(9)).toEqual([]);
  });

  it('ends the captures of the service', async () => {
    const urls = [site.url('/short'), ...[1, 2, 3].map((n) => site.url(`/hang?${n}`))];
    const { code, stderr } = await unread(['shot', ...at(), ...urls]);
    expect({ code, stderr }).toEqual({
      code: CLOSED,
      stderr: expect.stringMatching(/^1 saved, 0 failed, 3 not captured, in \S+ s\n$/),
    });
    await expect.poll(async () => (await app.service.inFlight({ limit: 1 })).captures).toEqual([]);
  });

  it('ends its own browsers', async () => {
    const args = ['shot', site.url('/short'), site.url('/hang'), '--allow-targets', '127.0.0.1'];
    const { code, stderr, place } = await unread(args);
    expect({ code, stderr }).toEqual({ code: CLOSED, stderr: expect.stringMatching(/^1 saved, /) });
    await expect.poll(() => place.browsers()).toEqual([]);
  });

  it.each([[['--help']], [['doctor', '--json', '--browser-path', '/nonexistent']]])(
    'ends quietly: %j',
    async (args) => {
      expect((await unread(args)).stderr).toBe('');
    },
  );

  it.each([[['--version']], [['shot', '--help']], [['doctor', '--browser-path', '/nonexistent']]])(
    'says in one line that the output cannot be written: %j',
    async (args) => {
      const full = openSync('/dev/full', 'w');
      const { code, stderr } = await capstan(args, { ...(await ground()).options, stdoutFd: full });
      closeSync(full);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^capstan: [^\n]*ENOSPC[^\n]*\n$/) });
    },
  );

  it('fails when the last line of a command cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const args = ['shot', ...at(), site.url('/short')];
    const { code, stderr } = await capstan(args, { ...(await ground()).options, stdoutFd: full });
    closeSync(full);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('ENOSPC') });
  });

  it('says in one line that the output cannot be written, and removes its watch', async () => {
    const full = openSync('/dev/full', 'w');
    const args = ['watch', site.url('/short'), ...at(), '--every', '300d'];
    const { code, stderr } = await capstan(args, { ...(await ground()).options, stdoutFd: full });
    closeSync(full);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^capstan: [^\n]*ENOSPC[^\n]*\n$/) });
    expect(await app.service.queries.newest(9)).toEqual([]);
  });

  it('goes on when nobody reads its messages', async () => {
    const place = await ground();
    using pipe = makePipe(place);
    const { child, stdout } = launch(['shot', ...at(), site.url('/short')], {
      ...place.options,
      stderrFd: pipe.writeFd,
    });
    pipe.hangUp();
    const [code] = await once(child, 'close');
    expect({ code, stdout: await stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^saved /) });
  });
});
