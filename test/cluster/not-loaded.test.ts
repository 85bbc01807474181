import { describe, expect, it } from 'vitest';
import { ground, serve } from '../commands/capstan-process.ts';

/** Writes the URL of each module that a process loads. */
const HOOK = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write('loads ' + url + '\\n'); return next(url, context); } });`;

describe('a process', () => {
  it('loads modules of NATS with --nats-url, and none without it', async () => {
    await using place = await ground();
    const options = {
      ...place.options,
      env: { ...place.options.env, NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(HOOK)}` },
    };
    const modulesOf = async (...flags: string[]): Promise<readonly string[]> => {
      const service = await serve(['--browser-path', '/nonexistent', ...flags], options);
      service.child.kill('SIGTERM');
      const { stderr } = await service.ended;
      return [...stderr.matchAll(/^loads (\S+)$/gm)].flatMap(([, url = '']) => url);
    };
    const ofCluster = /@nats-io|\/(src|dist)\/cluster\//;
    const alone = await modulesOf();
    expect(alone).toContainEqual(expect.stringContaining('generic-pool'));
    expect(alone.filter((url) => ofCluster.test(url))).toEqual([]);
    const away = [
      '--nats-url',
      'nats://127.0.0.1:9',
      '--mongo-url',
      'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=1',
    ];
    expect((await modulesOf(...away)).filter((url) => ofCluster.test(url))).not.toEqual([]);
  }, 60_000);
});
