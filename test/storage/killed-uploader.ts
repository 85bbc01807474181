import { gridfsBackend } from '../../src/storage/gridfs/backend.ts';
import { createIdSource } from '../../src/storage/records/ids.ts';
import type { Backend } from '../../src/storage/remote/backend.ts';
import { createRemoteStore } from '../../src/storage/remote/remote-store.ts';
import { openGridfsParts } from './gridfs-parts.ts';
import { around, HTML, IMAGE } from './parts.ts';
import { captureOf } from './result-of.ts';

/*
 * A process that stores captures in GridFS. With a step it stores one, whose id is given, and kills itself at that
 * step. Without one it stores several at a time and prints the id of each as soon as it is stored, until it is killed.
 * Arguments: `directory`, `url`, `step`, `id`.
 */

const AT_ONCE = 4;
const [directory = '', url = '', step = '', id = ''] = process.argv.slice(2);

function dieAt(reached: string): void {
  if (step !== reached) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal arrives before anything else happens.
  for (;;);
}

function dyingBackend(backend: Backend): Backend {
  return {
    ...backend,
    insert: async (key, content) => {
      dieAt('uploaded');
      const isFirst = await backend.insert(key, content);
      dieAt('shown');
      return isFirst;
    },
    putFile: async (key, content, facts) => {
      await backend.putFile(key, content, facts);
      dieAt('half uploaded');
    },
  };
}

const parts = await openGridfsParts(directory, url, {
  change: ({ local, results, outbox, mongo }) => ({
    local: around(local, {
      stage: async (record, files) => {
        const staged = await local.stage(record, files);
        dieAt('written locally');
        return {
          ...staged,
          publish: async () => {
            const isFirst = await staged.publish();
            dieAt('published locally');
            return isFirst;
          },
        };
      },
      release: async (ids) => {
        await local.release(ids);
        dieAt('released');
      },
    }),
    remote: createRemoteStore(dyingBackend(gridfsBackend(mongo.database, mongo.ask))),
    results: around(results, {
      insert: async (record) => {
        await results.insert(record);
        dieAt('recorded');
      },
    }),
    outbox: {
      ...outbox,
      add: async (noted) => {
        await outbox.add(noted);
        dieAt('noted');
      },
      remove: async (removed) => {
        const isRemoved = await outbox.remove(removed);
        dieAt('delivered');
        return isRemoved;
      },
    },
  }),
});

const ids = createIdSource({ clock: Date.now, node: 1 });

async function keepOn(): Promise<never> {
  for (;;) {
    const next = ids.next();
    await parts.captureStore.keep(captureOf(next), { image: IMAGE, html: HTML });
    process.stdout.write(`${next}\n`);
  }
}

if (step === '') await Promise.all(Array.from({ length: AT_ONCE }, keepOn));
else await parts.captureStore.keep(captureOf(Number(id)), { image: IMAGE, html: HTML });
