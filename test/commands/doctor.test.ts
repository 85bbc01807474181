import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fontconfigWith, LATIN_FONT } from '../support/fonts.ts';
import { freePort } from '../support/free-port.ts';
import { capstan, ground, NO_BROWSER, type RunOptions, serve } from './capstan-process.ts';

const Report = z.strictObject({
  serves: z.boolean(),
  findings: z.array(
    z.strictObject({
      check: z.string(),
      state: z.enum(['ok', 'warning', 'failure']),
      found: z.string(),
      advice: z.string(),
    }),
  ),
});

/** Runs the doctor; returns its exit code and its findings by check. */
async function doctor(args: readonly string[], options: RunOptions = {}) {
  const { code, stdout } = await capstan(['doctor', '--json', '--port', '0', ...args], options);
  const { serves, findings } = Report.parse(JSON.parse(stdout));
  return { code, serves, by: Object.fromEntries(findings.map(({ check, ...finding }) => [check, finding])) };
}

describe('capstan doctor', () => {
  it('reports every requirement as met, in any language of the operator, and changes nothing', async () => {
    const place = await ground();
    const env = { ...place.options.env, LANG: 'C', LC_ALL: 'POSIX', TZ: 'Asia/Tokyo' };
    // When the service runs as root, its browser runs as another user, who needs access to the directory.
    const { code, serves, by } = await doctor(['--db-path', 'results.db'], { ...place.options, env });
    expect({ code, serves }).toEqual({ code: 0, serves: true });
    expect(by).toMatchObject({
      browser: { state: 'ok', found: expect.stringMatching(/^headless Chromium \d+\.[\d.]+, \//), advice: '' },
      sandbox: { state: 'ok', found: expect.stringMatching(/^on/) },
      language: { state: 'ok', found: 'pages see en-US, formats of en-US, and time zone UTC' },
      database: { state: 'ok', found: `SQLite, ${join(place.path, 'results.db')}, which will be created` },
      'data directory': { state: 'ok', found: expect.stringMatching(/data, which will be created: [\d.]+ GiB free$/) },
      'temporary files': { state: 'ok' },
      port: { state: 'ok', found: '127.0.0.1:0 is free' },
    });
    expect(Object.keys(by)).toEqual(expect.arrayContaining(['fonts', 'memory', 'open files', 'processes']));
    await expect.poll(() => place.browsers()).toEqual([]);
  });

  it('prints a table with advice below each finding, and exits with 1 when the service would not start', async () => {
    const place = await ground();
    const { code, stdout } = await capstan(['doctor', '--port', '0', '--browser-path', '/nonexistent'], place.options);
    expect(code).toBe(1);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^CHECK +STATE +FOUND$/);
    expect(lines[1]).toMatch(/^browser +failure +none was found$/);
    expect(lines[2]).toMatch(/^ +-> --browser-path \/nonexistent is not a file that can be executed$/);
    expect(stdout).toMatch(/^database +warning +none: results are not kept/m);
  });

  it('warns of scripts without a font, of a sandbox that is off, and of a low limit of open files', async () => {
    const place = await ground();
    const { code, by } = await doctor(['--sandbox', 'off', '--max-concurrent', '8'], {
      cwd: place.path,
      env: { TMPDIR: place.path, FONTCONFIG_FILE: await fontconfigWith(LATIN_FONT) },
      descriptors: 512,
    });
    expect(by.fonts).toEqual({
      state: 'warning',
      found: expect.stringMatching(/^none for Chinese, Japanese, Korean, emoji, Arabic, .*: drawn as boxes$/),
      advice: expect.stringMatching(/^apt-get install fonts-noto-cjk fonts-noto-color-emoji fonts-noto-core,/),
    });
    expect(by.sandbox).toMatchObject({ state: 'warning', found: expect.stringMatching(/^off.*--sandbox off$/) });
    expect(by['open files']).toEqual({
      state: 'warning',
      found: 'at most 512: 64 connections instead of 10000',
      advice: expect.stringContaining('LimitNOFILE='),
    });
    expect(code).toBe(0);
  });

  it('fails for a data directory that is a file, and for a database of a later version', async () => {
    const place = await ground();
    await writeFile(join(place.path, 'data'), '');
    const db = new DatabaseSync(join(place.path, 'results.db'));
    db.exec('PRAGMA application_id = 0x43707374; PRAGMA user_version = 9999; CREATE TABLE x (y)');
    db.close();
    const { code, by } = await doctor(['--db-path', 'results.db', ...NO_BROWSER], place.options);
    expect(by['data directory']).toMatchObject({
      state: 'failure',
      found: expect.stringMatching(/is not a directory$/),
    });
    expect(by.database).toMatchObject({ state: 'failure', found: expect.stringMatching(/schema version 9999/) });
    expect(code).toBe(1);
  });

  it.each(['', '{"id":"', '{}'])('fails for a data directory whose store.json is %j', async (text) => {
    const place = await ground();
    await mkdir(join(place.path, 'data'));
    await writeFile(join(place.path, 'data', 'store.json'), text);
    const { code, by } = await doctor(NO_BROWSER, place.options);
    expect(by['data directory']).toMatchObject({
      state: 'failure',
      found: expect.stringMatching(/store\.json is damaged/),
    });
    expect(code).toBe(1);
    const rebuilt = await capstan(['db', 'rebuild', '--db-path', 'results.db'], place.options);
    expect(rebuilt).toMatchObject({ code: 1, stderr: expect.stringMatching(/^capstan: \S+store\.json is damaged/) });
  });

  it('fails for a missing store that is required', async () => {
    const place = await ground();
    const { code, by } = await doctor(['--require-store', '--db-path', 'results.db', ...NO_BROWSER], place.options);
    expect(by['data directory']).toMatchObject({
      state: 'failure',
      found: expect.stringMatching(/data holds no store, and the database .*results\.db is missing: mount it/),
    });
    expect(code).toBe(1);
  });

  it('only warns of an unreachable or damaged database, because captures still work', async () => {
    const place = await ground();
    await writeFile(join(place.path, 'results.db'), 'not a database, but longer than its header would be'.repeat(40));
    await mkdir(join(place.path, 'data'));
    const damaged = await doctor(['--db-path', 'results.db'], place.options);
    expect(damaged.by.database).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/file is not a database/),
      advice: expect.stringMatching(/capstan db check.*wait in the outbox$/),
    });
    const directory = await doctor(['--db-path', 'data', ...NO_BROWSER], place.options);
    expect(directory.by.database).toMatchObject({ state: 'warning', found: expect.stringMatching(/is a directory$/) });
    const port = await freePort();
    const away = await doctor(['--mongo-url', `mongodb://user:secret@127.0.0.1:${port}/`], place.options);
    expect(away.by.database).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/^MongoDB: .*ECONNREFUSED/),
    });
    expect(JSON.stringify(away)).not.toContain('secret');
    expect([damaged.code, away.code]).toEqual([0, 0]);
  });

  it('fails for a port that another program listens on, but not for the port of a running service', async () => {
    const place = await ground();
    const other = createServer((socket) => socket.end('no HTTP')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = await doctor(['--port', portOf(other)], place.options);
    other.close();
    expect(taken.by.port).toMatchObject({ state: 'failure', found: expect.stringMatching(/EADDRINUSE/) });
    expect(taken.code).toBe(1);

    const service = await serve(NO_BROWSER, place.options);
    const beside = await doctor([...NO_BROWSER, '--port', new URL(service.url).port], place.options);
    service.child.kill('SIGTERM');
    await service.ended;
    expect(beside.by.port).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/a Capstan service is listening/),
    });
  });
});

function portOf(server: Server): string {
  const address = server.address();
  return typeof address === 'object' && address !== null ? String(address.port) : '';
}
