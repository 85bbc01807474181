import type { DocumentStores } from '../ports/database.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import { captureLabelsIn } from './capture-labels.ts';
import { idempotencyIn } from './idempotency.ts';
import { jobsIn } from './jobs.ts';
import { queriesIn } from './queries.ts';
import { receiversIn } from './receivers.ts';
import { sharedLinksIn } from './shared-links.ts';
import { watchesIn } from './watches.ts';

/** Returns the stores that keep their data as documents of a database. */
export function storesIn(documents: DocumentStore): DocumentStores {
  return {
    jobs: jobsIn(documents),
    watches: watchesIn(documents),
    queries: queriesIn(documents),
    receivers: receiversIn(documents),
    sharedLinks: sharedLinksIn(documents),
    labels: captureLabelsIn(documents),
    idempotency: idempotencyIn(documents),
  };
}
