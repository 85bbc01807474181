import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, listening } from '../egress/listening.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { capstan, ground, launch } from './capstan-process.ts';

const KEY = 'the-key-of-the-command-line';
const TEXT = `<p>${'The ferry to the islands sails at nine. '.repeat(20)}</p>`;

describe('capstan watch', () => {
  const notify = ['team=ntfy:http://127.0.0.1:2586/team', 'me=ntfy:http://127.0.0.1:2586/me'];
  const app = serviceForSuite({ notify, allowWebhooks: ['127.0.0.1'] }, { apiKey: [KEY] });
  let site: Listening;
  let title = 'Open';
  beforeAll(async () => {
    site = await listening(
      createServer((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' });
        response.end(`<!doctype html><title>${title}</title><body><h1>${title}</h1>${TEXT}`);
      }),
    );
  });
  afterAll(() => site?.[Symbol.asyncDispose]());

  it('writes a line for each run, runs a command when the page changed, and removes the watch on Ctrl-C', async () => {
    const place = await ground();
    // Its background process does not end when it is asked to.
    const background = '(trap "" TERM; exec sleep 600) & echo $! > pid.txt';
    const exec = `cat > event.json; ${background}; echo "$CAPSTAN_COMPARISON" > link.txt; wait`;
    const what = ['--compare', 'title', '--compare', 'text', '--compare', 'visual=0', '--every', '300d'];
    const args = ['watch', `http://127.0.0.1:${site.port}/`, '--server', app.baseUrl, '--api-key', KEY, ...what];
    const { child, lines } = followed([...args, '--exec', exec], place.options);
    const ended = once(child, 'close');
    await expect.poll(() => lines).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}first$/)]);
    title = 'Closed';
    const watches = async () =>
      (await app.service.watches.list({ ofKey: undefined, label: undefined, after: 0, limit: 9 })).items;
    const [{ id = 0 } = {}] = await watches();
    await app.service.watches.run(id);
    await expect
      .poll(() => lines.slice(1))
      .toEqual([
        expect.stringMatching(/ {2}changed {6}visual \d+\.\d\d %, text, title$/),
        expect.stringMatching(/^ {2}edited \d+x\d+\+\d+\+\d+$/),
        '  title: Open -> Closed',
        '  -Open',
        '  +Closed',
      ]);
    await expect.poll(() => readFile(join(place.path, 'link.txt'), 'utf8').catch(() => '')).toMatch(/\n$/);
    const { run } = JSON.parse(await readFile(join(place.path, 'event.json'), 'utf8'));
    expect(run).toMatchObject({ state: 'changed', changed: ['visual', 'text', 'title'] });
    const link = await readFile(join(place.path, 'link.txt'), 'utf8');
    expect(link).toBe(`${app.baseUrl}/compare?a=${run.before}&b=${run.capture}\n`);
    const pid = Number(await readFile(join(place.path, 'pid.txt'), 'utf8'));
    const lasting = () => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    expect(await lasting()).toContain('sleep');
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    await expect.poll(lasting).toBe('');
    expect(await watches()).toEqual([]);
    expect(await app.service.queries.newest(9)).toEqual([]);
  });

  it('watches with a service of its own, and writes events as JSON', async () => {
    const place = await ground();
    const args = ['watch', `http://127.0.0.1:${site.port}/`, '--every', '1d', '--json', '--allow-targets', '127.0.0.1'];
    const { child, lines } = followed(args, place.options);
    const ended = once(child, 'close');
    await expect
      .poll(() => lines.map((line) => JSON.parse(line)))
      .toEqual([expect.objectContaining({ type: 'watch.run', run: expect.objectContaining({ state: 'first' }) })]);
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
  });

  it('reads values with the rules of its flags', async () => {
    const place = await ground();
    const rules = ['--values', 'heading=h1', '--values', '{"links":{"selector":"a","type":"count"}}'];
    const when = ['--when', '{"any":[{"value":"links","rose":true},{"value":"heading","changed":true}]}'];
    const url = `http://127.0.0.1:${site.port}/`;
    const { child, lines } = followed(
      ['watch', url, '--every', '1d', '--json', '--allow-targets', '127.0.0.1', ...rules, ...when],
      place.options,
    );
    const ended = once(child, 'close');
    await expect
      .poll(() => lines.map((line) => JSON.parse(line).run.values))
      .toEqual([{ heading: { value: title, text: title }, links: { value: 0, text: '0' } }]);
    child.kill('SIGTERM');
    await ended;
  });

  it('tells the receivers that its flags name', async () => {
    const place = await ground();
    const names = ['--notify', 'team', '--notify', 'me'];
    const at = ['--server', app.baseUrl, '--api-key', KEY];
    const { child } = followed(
      ['watch', `http://127.0.0.1:${site.port}/`, '--every', '1d', ...at, ...names],
      place.options,
    );
    const ended = once(child, 'close');
    const watches = async () =>
      (await app.service.watches.list({ ofKey: undefined, label: undefined, after: 0, limit: 9 })).items;
    await expect.poll(async () => (await watches()).map(({ notify }) => notify)).toEqual([['team', 'me']]);
    child.kill('SIGTERM');
    await ended;
  });

  it.each([
    [[], '--every is required, unless schedule is given'],
    [['--every', '1s'], '--every must be a number and one of s, m, h or d'],
    [['--every', '1h', '--compare', 'colour'], '--compare takes one of visual, text, links, status, title, verdict'],
    [['--every', '1h', '--notify', 'nobody'], '--notify[0] must be the name of a receiver, and there is no nobody'],
    [['--every', '1h', '--ignore', 'clock'], '--ignore must be a kind'],
    [
      ['--every', '1h', '--values', 'price=.price', '--when', '{"value":"stock","missing":true}'],
      '--when.value "stock" is none of the values: price',
    ],
    [['--every', '1h', '--when', 'none.json'], '--when takes a JSON file, but none.json cannot be read'],
  ])('refuses %j with one line and exit code 2', async (args, line) => {
    const at = ['--server', app.baseUrl, '--api-key', KEY];
    const { code, stderr } = await capstan(['watch', 'http://127.0.0.1/', ...at, ...args]);
    expect({ code, stderr: stderr.trim() }).toEqual({ code: 2, stderr: expect.stringContaining(line) });
  });
});

function followed(args: readonly string[], options: Parameters<typeof launch>[1]) {
  const { child } = launch(args, options);
  const lines: string[] = [];
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { child, lines };
}
