import { beforeAll, describe, expect, it } from 'vitest';
import { ground, serve } from './capstan-process.ts';

/** Writes the URL of each module that a process loads. */
const HOOK = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write('loads ' + url + '\\n'); return next(url, context); } });`;

/** Returns the URLs of the modules that a service loads until it listens and stops. */
async function modulesWith(...flags: string[]): Promise<readonly string[]> {
  const place = await ground();
  const env = { ...place.options.env, NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(HOOK)}` };
  const service = await serve(['--browser-path', '/nonexistent', ...flags], { ...place.options, env });
  service.child.kill('SIGTERM');
  const { stderr } = await service.ended;
  return [...stderr.matchAll(/^loads (\S+)$/gm)].flatMap(([, url = '']) => url);
}

describe('capstan serve', () => {
  let without: readonly string[];

  beforeAll(async () => {
    without = await modulesWith();
    expect(without).toContainEqual(expect.stringContaining('generic-pool'));
  });

  it.each([
    [
      'NATS',
      /@nats-io|\/(src|dist)\/cluster\//,
      ['--nats-url', 'nats://127.0.0.1:9', '--mongo-url', 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=1'],
    ],
    ['OpenTelemetry', /@opentelemetry|\/(src|dist)\/tracing\//, ['--otlp-url', 'http://127.0.0.1:9/']],
  ])(
    'loads modules of %s with its option, and none without it',
    async (_, modules, flags) => {
      expect(without.filter((url) => modules.test(url))).toEqual([]);
      expect((await modulesWith(...flags)).filter((url) => modules.test(url))).not.toEqual([]);
    },
    60_000,
  );
});
