import { gridfsBackend } from '../../src/storage/gridfs/backend.ts';
import type { ArtifactStore, StagedCapture } from '../../src/storage/ports/artifact-store.ts';
import { createIdSource } from '../../src/storage/records/ids.ts';
import { fileKey } from '../../src/storage/remote/keys.ts';
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

function dyingAt(staged: StagedCapture, reached: string): StagedCapture {
  return {
    info: staged.info,
    publish: async () => {
      const isFirst = await staged.publish();
      dieAt(reached);
      return isFirst;
    },
    discard: () => staged.discard(),
  };
}

const parts = await openGridfsParts(directory, url, {
  change: ({ local, remote, results, outbox, mongo }) => ({
    local: around(local, {
      stage: async (record, files) => {
        const staged = await local.stage(record, files);
        dieAt('written locally');
        return dyingAt(staged, 'published locally');
      },
      release: async (ids) => {
        await local.release(ids);
        dieAt('released');
      },
    }),
    remote: around<ArtifactStore>(remote, {
      stage: async (record, files) => {
        if (step === 'half uploaded') {
          const key = fileKey(record, 'half', 'image.png');
          const facts = { type: 'image/png', sha256: '' };
          await gridfsBackend(mongo.database, mongo.ask).putFile(key, files.image, facts);
        }
        dieAt('half uploaded');
        const staged = await remote.stage(record, files);
        dieAt('uploaded');
        return dyingAt(staged, 'shown');
      },
    }),
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
