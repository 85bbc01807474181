import { queryOf } from '../../api/client.ts';
import { hrefOf } from '../../parts/route.ts';
import { Empty } from '../../parts/view.tsx';
import { countOf, type Filters } from './filters.ts';

/** The text of an empty gallery. */
export function NothingFound({ filters }: { readonly filters: Filters }) {
  const { text, words } = filters;
  return countOf(filters) > 0 ? (
    <Empty title="No capture matches">
      <p>Remove a filter, or search for less.</p>
      {text !== '' && words === '' && (
        <a class="button primary" href={hrefOf(`/${queryOf({ ...filters, text: '', words: text })}`)}>
          Search the words on the pages
        </a>
      )}
      {words !== '' && <p>Words are found on pages that were captured while the service ran with --index-words.</p>}
    </Empty>
  ) : (
    <Empty title="No captures yet">
      <p>Captures appear here as soon as they are stored.</p>
      <a class="button primary" href={hrefOf('/capture')}>
        Capture a page
      </a>
    </Empty>
  );
}
