import { Fragment } from 'preact';
import type { Watch } from '../../api/types.ts';
import { hrefOf } from '../../parts/route.ts';
import { tellsOf } from './condition-words.ts';

/** The changes that a watch tells, and its receivers; nothing for a watch without values and receivers. */
export function WatchTells({ watch }: { readonly watch: Watch }) {
  const { notify, values } = watch;
  if (notify.length === 0 && values === null) return null;
  return (
    <p class="watch-tells">
      {notify.length === 0 ? (
        'Tells nobody'
      ) : (
        <>
          Tells{' '}
          {notify.map((name, at) => (
            <Fragment key={name}>
              {at > 0 && ', '}
              <a href={hrefOf('/receivers')}>{name}</a>
            </Fragment>
          ))}
        </>
      )}{' '}
      when {tellsOf(watch)}
    </p>
  );
}
