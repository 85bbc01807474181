import { useRef, useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { mayCapture } from '../../../api/session.ts';
import type { DetailedResult, RecentRun, Watch } from '../../../api/types.ts';
import { CopyAsCurl } from '../../../parts/copy-as-curl.tsx';
import { shortUrl } from '../../../parts/format.ts';
import { ofSelector } from '../../../parts/ignore-places.ts';
import { Ignored } from '../../../parts/ignored.tsx';
import { useDraft, withoutCredentials } from '../../../parts/kept.ts';
import { useNewReceiver } from '../../../parts/receivers/use-new-receiver.ts';
import { goTo, path, query } from '../../../parts/route.ts';
import { useAnswer } from '../../../parts/use-answer.ts';
import { useAttempt } from '../../../parts/use-attempt.ts';
import { useCapture } from '../../../parts/use-capture.ts';
import { usePage } from '../../../parts/use-page.ts';
import { Problem, View } from '../../../parts/view.tsx';
import { AddIgnored } from './add-ignored.tsx';
import { ConditionFields } from './condition-fields.tsx';
import { Picker } from './picker.tsx';
import { StabilityCheck } from './stability-check.tsx';
import type { Mode } from './stage.tsx';
import { TellFields } from './tell-fields.tsx';
import { extractOf, pickedValue, type ValueDraft } from './value-drafts.ts';
import { ValueFields } from './value-fields.tsx';
import { bodyOf, changeOf, type Draft, draftOf, newDraft, withValues } from './watch-draft.ts';
import { WatchFields } from './watch-fields.tsx';

/** Number of runs among which the newest capture is looked for. */
const MAX_RUNS = 50;

/** The form of a watch: a new one, or the one that the address names. */
export function WatchForm() {
  const id = /^\/watches\/(\d+)$/.exec(path.value)?.[1];
  const watch = useAnswer<Watch>(id === undefined ? undefined : `/watches/${id}`);
  const runs = useAnswer<readonly RecentRun[]>(
    id === undefined ? undefined : `/watches/${id}/history?limit=${MAX_RUNS}`,
  );
  const error = watch.error ?? runs.error;
  if (error !== undefined || mayCapture.value === false) {
    return (
      <View title="Watch">
        <div class="view-body">
          <Problem error={error ?? new Error('This API key may read watches, and not change them.')} />
        </div>
      </View>
    );
  }
  if (mayCapture.value === undefined) return <main id="main" class="view" aria-busy="true" />;
  if (id === undefined) {
    const draft = newDraft(query.value.get('url') ?? '', query.value.get('every') ?? '1h');
    return <Form draft={draft} watch={undefined} captures={[]} />;
  }
  if (watch.data === undefined || runs.data === undefined) return <main id="main" class="view" aria-busy="true" />;
  const captures = [...runs.data.map(({ capture }) => capture), watch.data.baseline].filter((each) => each !== null);
  // The baseline is one of the runs' captures, too, unless they are too many.
  return <Form draft={draftOf(watch.data)} watch={watch.data} captures={[...new Set(captures)]} />;
}

const storable = (draft: Draft): Draft => ({ ...draft, url: withoutCredentials(draft.url) });

type Rules = ReturnType<typeof extractOf>;

interface FormProps {
  readonly draft: Draft;
  readonly watch: Watch | undefined;
  /** Ids of the captures of the watch, newest first. */
  readonly captures: readonly number[];
}

function Form({ draft: initial, watch, captures: [newest, second, third] }: FormProps) {
  const [draft, setDraft, forgetDraft] = useDraft('watch', initial, storable);
  const { error, isRunning, attempt } = useAttempt();
  const [lit, setLit] = useState<string>();
  const [stored, setStored] = useState(newest);
  const adding = useNewReceiver();
  const capturing = useCapture();
  const { run } = capturing;
  const shown = useAnswer<DetailedResult>(stored === undefined ? undefined : `/results/${stored}`);
  const result = run.state === 'stored' ? run.result : shown.data;
  const { page, isMissing } = usePage(result?.id);
  const before = run.state === 'stored' ? [newest, second] : [second, third];
  const earlier = [usePage(before[0]).page, usePage(before[1]).page].filter((each) => each !== undefined);
  const [mode, setMode] = useState<Mode>('elements');
  const screenshot = useRef<HTMLDivElement>(null);
  const [picking, setPicking] = useState<number>();
  /** The rules of values that the shown capture was made with. */
  const [asked, setAsked] = useState(() => extractOf(initial.values));
  const change = (part: Partial<Draft>) => setDraft((old) => ({ ...old, ...part }));
  const ignore = (more: readonly string[]) => change({ ignore: [...new Set([...draft.ignore, ...more])] });
  const target = { ...draft.options, url: draft.url };
  const extract = extractOf(draft.values);
  const setValues = (values: readonly ValueDraft[]) => setDraft((old) => withValues(old, values, watch === undefined));
  const pick = (at: number | undefined) => {
    setPicking(at);
    setMode(at === undefined ? 'elements' : 'value');
    // On a phone it is below the form.
    if (at !== undefined) screenshot.current?.scrollIntoView({ block: 'nearest' });
  };
  /** Reads a value from an element: the one that it is chosen for, or a new one. Until then, another may be chosen. */
  const readFrom = (where: string, text: string) => {
    const { values } = draft;
    const at = picking ?? values.length;
    const chosen = values[at];
    const next = chosen === undefined || chosen.name === '' ? pickedValue(where, text, values) : { ...chosen, where };
    setValues(at < values.length ? values.with(at, next) : [...values, next]);
    setPicking(at);
  };
  const isReady = draft.url.trim() !== '';
  const requestOf = (wanted: Draft) =>
    watch === undefined
      ? ({ path: '/watches', method: 'POST', body: bodyOf(wanted) } as const)
      : ({ path: `/watches/${watch.id}`, method: 'PATCH', body: changeOf(wanted, initial) } as const);
  const save = async (event: Event) => {
    event.preventDefault();
    await attempt(async () => {
      // Saving also adds a receiver that was typed and not added.
      const added = adding.isFilled ? await adding.add() : undefined;
      if (adding.isFilled && added === undefined) return;
      const notify = added === undefined ? draft.notify : [...draft.notify, added.name];
      const { path: to, method, body } = requestOf({ ...draft, notify });
      await call(to, { method, body });
      forgetDraft();
      goTo('/watches');
    });
  };
  return (
    <View
      title={watch === undefined ? 'Watch a page' : `Watch ${shortUrl(watch.url)}`}
      class="watch-view"
      actions={<CopyAsCurl requests={() => [requestOf(draft)]} />}
    >
      <div class="watch-columns">
        <form class="watch-side" onSubmit={(event) => void save(event)}>
          <WatchFields draft={draft} isNew={watch === undefined} onChange={change} />
          <ValueFields
            values={draft.values}
            picking={picking}
            canPick={page !== undefined}
            page={page}
            earlier={earlier}
            read={readBy(result, asked, extract)}
            onChange={(values) => {
              // The places of others may have moved.
              if (values.length < draft.values.length) pick(undefined);
              setValues(values);
            }}
            onPick={pick}
            onPoint={(selector) => setLit(selector === undefined ? undefined : ofSelector(selector))}
          />
          {draft.values.length > 0 && (
            <ConditionFields
              values={draft.values}
              when={draft.conditions}
              onChange={(conditions) => change({ conditions })}
            />
          )}
          <TellFields notify={draft.notify} adding={adding} onChange={(notify) => change({ notify })} />
          <section class="panel watch-ignored">
            <h2>Ignored</h2>
            {draft.ignore.length === 0 ? (
              <p class="muted">Nothing. Point at the screenshot to choose what does not count as a change.</p>
            ) : (
              <Ignored
                ignored={draft.ignore}
                onPoint={setLit}
                onRemove={(each) => {
                  setLit(undefined);
                  change({ ignore: draft.ignore.filter((other) => other !== each) });
                }}
              />
            )}
            <AddIgnored onAdd={(each) => ignore([each])} />
            <StabilityCheck
              body={target}
              isReady={isReady}
              ignored={draft.ignore}
              onPoint={setLit}
              onIgnore={ignore}
              onCapture={(id) => result === undefined && setStored(id)}
            />
          </section>
          {error !== undefined && <Problem error={error} />}
          <div class="watch-buttons">
            <button type="submit" class="button primary" disabled={isRunning}>
              {watch === undefined ? 'Watch' : 'Save'}
            </button>
            <button type="button" class="button" onClick={() => goTo('/watches')}>
              Cancel
            </button>
          </div>
        </form>
        <div class="watch-screenshot" ref={screenshot}>
          <div class="watch-capture">
            <button
              type="button"
              class="button"
              disabled={!isReady || run.state === 'running'}
              onClick={() => {
                setAsked(extract);
                capturing.start(extract === undefined ? target : { ...target, extract });
              }}
            >
              {result === undefined
                ? 'Capture the page'
                : extract === undefined
                  ? 'Capture again'
                  : 'Capture again, and read the values'}
            </button>
            <span class="muted" role="status">
              {run.state === 'running' ? 'Capturing …' : ''}
            </span>
          </div>
          {run.state === 'failed' && <Problem error={run.error} />}
          {shown.error !== undefined && run.state !== 'stored' && <Problem error={shown.error} />}
          {result === undefined ? (
            <div class="panel watch-empty muted">
              <p>Capture the page to choose on its screenshot which values are read, and what is ignored.</p>
            </div>
          ) : (
            <Picker
              key={result.id}
              result={result}
              page={page}
              isMissing={isMissing}
              mode={mode}
              onMode={(next) => {
                setMode(next);
                setPicking(undefined);
              }}
              read={draft.values
                .filter(({ from, where }) => from === 'selector' && where !== '')
                .map(({ where }) => where)}
              ignored={draft.ignore}
              lit={lit}
              onChange={(next) => change({ ignore: next })}
              onRead={readFrom}
            />
          )}
        </div>
      </div>
    </View>
  );
}

/** Returns what the shown capture has read, as far as the values still have the rules that it was `asked` with. */
function readBy(
  result: DetailedResult | undefined,
  asked: Rules,
  now: Rules,
): Readonly<Record<string, unknown>> | undefined {
  if (now === undefined || asked === undefined || result?.extract == null) return undefined;
  const isSame = ([name]: [string, unknown]) => JSON.stringify(asked[name]) === JSON.stringify(now[name]);
  return Object.fromEntries(Object.entries(result.extract).filter(isSame));
}
