import { around, openParts } from './parts.ts';

/* A process that removes captures and kills itself at a given step. Arguments: `directory`, `step`, `id,id,...`. */

const [directory = '', step = '', ids = ''] = process.argv.slice(2);

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal arrives before anything else happens.
  for (;;);
}

const parts = await openParts(directory, {
  change: ({ outbox, results, artifacts }) => ({
    outbox: {
      ...outbox,
      intend: async (removed) => {
        const removal = await outbox.intend(removed);
        if (step === 'intended') die();
        return { ids: removal.ids, done: step === 'files removed' ? die : removal.done };
      },
    },
    results: around(results, {
      delete: async (removed) => {
        const deleted = await results.delete(removed);
        if (step === 'records removed') die();
        return deleted;
      },
    }),
    artifacts: around(artifacts, {
      remove: async (removed) => {
        if (step !== 'some files removed') return artifacts.remove(removed);
        await artifacts.remove(removed.slice(0, 1));
        return die();
      },
    }),
  }),
});
await parts.captureStore.remove(ids.split(',').map(Number));
