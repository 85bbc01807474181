import { useRef, useState } from 'preact/hooks';
import { ARTIFACTS, viewOf } from '../../../src/capture/artifacts/artifacts.ts';
import { artifactsOf } from '../../api/artifacts.ts';
import { CapstanFailure, queryOf } from '../../api/client.ts';
import { removeCapture } from '../../api/removal.ts';
import { requestedTarget } from '../../api/target.ts';
import type { DetailedResult } from '../../api/types.ts';
import { MarkBadges, OptionBadges, OutcomeBadge } from '../../parts/badge.tsx';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { pageName } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { backToGallery, galleryBefore, hrefOf, path, query } from '../../parts/route.ts';
import { ShareButton } from '../../parts/share-button.tsx';
import { SnippetText } from '../../parts/snippet-text.tsx';
import { useAnswer } from '../../parts/use-answer.ts';
import { usePlace } from '../../parts/use-place.ts';
import { Problem, View } from '../../parts/view.tsx';
import { EvidenceTabs } from './evidence-tabs.tsx';
import { Facts } from './facts.tsx';
import { type Marks, MarksPanel } from './marks.tsx';
import { historyPath, Related, similarPath } from './related.tsx';
import { TimingBars } from './timing-bars.tsx';
import { Viewer } from './viewer.tsx';

export function Detail() {
  const id = /^\/results\/(\d+)$/.exec(path.value)?.[1] ?? '';
  const {
    data: result,
    error,
    reload,
  } = useAnswer<DetailedResult>(`/results/${id}${queryOf({ words: query.value.get('words') ?? '' })}`);
  if (error !== undefined) {
    const isGone = error instanceof CapstanFailure && error.status === 404;
    return (
      <View title={isGone ? 'Not found' : 'Capture'}>
        <div class="view-body">
          <Problem error={error} {...(isGone ? {} : { retry: reload })} />
        </div>
      </View>
    );
  }
  if (result === undefined) return <main id="main" class="view" aria-busy="true" />;
  return <Capture key={result.id} result={result} />;
}

function Capture({ result }: { readonly result: DetailedResult }) {
  const { id, evidence, failed, failed_reason: reason } = result;
  const [marks, setMarks] = useState<Marks>(result);
  const scroller = useRef<HTMLElement>(null);
  const keepPlace = usePlace(scroller, { of: String(id), isReady: true, loadMore: undefined });
  const name = pageName(result);
  return (
    <View
      title={name}
      class="detail"
      scroller={scroller}
      onMove={keepPlace}
      heading={
        <>
          <a class="button quiet square" href={hrefOf(galleryBefore.value)} data-back aria-label="Back to the gallery">
            <Icon name="left" />
          </a>
          <span class="detail-name">{name}</span>
          <OutcomeBadge result={result} />
          <MarkBadges result={marks} max={0} />
          <OptionBadges result={result} max={3} />
        </>
      }
      actions={
        <>
          <CopyAsCurl requests={() => requestsOf(result)} />
          <a class="button" href={hrefOf(`/compare${queryOf({ a: id })}`)} aria-label="Compare with another capture">
            <Icon name="compare" />
            <span class="wide-only">Compare</span>
          </a>
          <a
            class="button"
            href={hrefOf(`/capture${queryOf({ from: id })}`)}
            aria-label="Capture this URL again, with the same options"
          >
            <Icon name="capture" />
            <span class="wide-only">Again</span>
          </a>
          {!failed && <ShareButton id={id} views={viewsOf(result)} />}
          <DeleteButton
            label="Delete the capture"
            face={
              <>
                <Icon name="trash" />
                <span class="wide-only">Delete</span>
              </>
            }
            title="Delete the capture?"
            onDelete={async () => {
              await removeCapture(id);
              backToGallery();
            }}
          >
            “{name}”: its image, its HTML snapshot and its record are removed.
          </DeleteButton>
        </>
      }
    >
      <div class="detail-columns">
        <div class="detail-screenshot">
          {failed && <Problem error={new Error(reason)} />}
          <Viewer result={result} />
        </div>
        <div class="detail-side">
          {result.snippets !== undefined && (
            <section class="panel">
              <h2>Words found</h2>
              {result.snippets.length === 0 && <p class="muted">The page does not show these words.</p>}
              <ul class="detail-snippets">
                {result.snippets.map((snippet) => (
                  <li key={snippet.text}>
                    <SnippetText snippet={snippet} class="detail-snippet" />
                  </li>
                ))}
              </ul>
            </section>
          )}
          <section class="panel">
            <h2>Capture</h2>
            <Facts result={result} />
          </section>
          <MarksPanel id={id} marks={marks} onChange={setMarks} />
          <section class="panel">
            <h2>Timings</h2>
            <TimingBars timings={result.timings} />
          </section>
          <Related result={result} />
        </div>
        <section class="panel detail-evidence">
          <h2>Evidence</h2>
          {evidence === null ? (
            <p class="muted">There was no page to record evidence of.</p>
          ) : (
            <EvidenceTabs evidence={evidence} />
          )}
        </section>
      </div>
    </View>
  );
}

/** Returns the views of a capture that can be shared, each with its label. */
function viewsOf(result: DetailedResult) {
  const files = artifactsOf(result).map(({ kind }) => [viewOf(kind), ARTIFACTS[kind].label] as const);
  return [['page', 'Page with evidence'] as const, ...files];
}

function requestsOf(result: DetailedResult) {
  const { id, url, options, format, perception_hash: hash } = result;
  return [
    { path: '/screenshot', method: 'POST', body: { ...requestedTarget(result), ...options } },
    { path: `/results/${id}` },
    ...artifactsOf(result).map(({ kind, path }) => ({ path, file: `${id}.${ARTIFACTS[kind].extension(format)}` })),
    { path: `/screenshot/${id}`, method: 'PATCH', body: { addLabels: ['legal'] } },
    { path: `/screenshot/${id}/share`, method: 'POST', body: { expires: '7d' } },
    { path: historyPath(url) },
    ...(hash === null ? [] : [{ path: similarPath(id) }]),
    { path: `/screenshot/${id}`, method: 'DELETE' },
  ];
}
