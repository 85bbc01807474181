import { beforeAll, describe, expect, it } from 'vitest';
import { BIN_OF_CHECKOUT } from '../support/package.ts';
import { ground, serve } from './capstan-process.ts';

/** Writes the URL of each module that a process loads. */
const HOOK = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write('loads ' + url + '\\n'); return next(url, context); } });`;

/** Returns the URLs of the modules that a service loads until it listens and stops. */
async function modulesWith(...flags: string[]): Promise<readonly string[]> {
  const place = await ground();
  const env = { ...place.options.env, NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(HOOK)}` };
  // In the package, the names of the files do not tell which modules they have.
  const options = { ...place.options, env, bin: BIN_OF_CHECKOUT };
  const service = await serve(['--browser-path', '/nonexistent', ...flags], options);
  service.child.kill('SIGTERM');
  const { stderr } = await service.ended;
  return [...stderr.matchAll(/^loads (\S+)$/gm)].flatMap(([, url = '']) => url);
}

const MONGO = 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=1';

describe('capstan serve', () => {
  let without: readonly string[];
  let withAll: readonly string[];

  beforeAll(async () => {
    const flags = ['--nats-url', 'nats://127.0.0.1:9', '--mongo-url', MONGO, '--otlp-url', 'http://127.0.0.1:9/'];
    [without, withAll] = await Promise.all([modulesWith(), modulesWith(...flags, '--ipinfo')]);
    expect(without).toContainEqual(expect.stringContaining('generic-pool'));
  });

  it.each([
    ['NATS', /@nats-io|\/src\/cluster\//],
    ['MongoDB', /\/node_modules\/mongodb\/|\/src\/storage\/mongo\//],
    ['OpenTelemetry', /@opentelemetry|\/src\/tracing\//],
    ['the IP client', /\/src\/ipinfo\/|\/node_modules\/got\//],
  ])('loads modules of %s with its option, and none without it', (_, modules) => {
    expect(without.filter((url) => modules.test(url))).toEqual([]);
    expect(withAll.filter((url) => modules.test(url))).not.toEqual([]);
  });

  it('loads no other commands, no Playwright and nothing of MCP, with all options', () => {
    const others =
      /\/commands\/(db|diff|doctor|export|ip|mcp|shot|sign|stability|watch)\.ts$|\/node_modules\/(playwright|@modelcontextprotocol)/;
    expect(withAll.filter((url) => others.test(url))).toEqual([]);
  });
});
