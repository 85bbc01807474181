import { useEffect, useState } from 'preact/hooks';
import { CapstanFailure, type FieldProblem } from '../../api/client.ts';
import { requestedTarget } from '../../api/target.ts';
import type { DetailedResult } from '../../api/types.ts';
import { COMMON, CommonOptions } from '../../parts/common-options.tsx';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useDraft, withoutCredentials } from '../../parts/kept.ts';
import { query } from '../../parts/route.ts';
import { useAnswer } from '../../parts/use-answer.ts';
import { useCapture } from '../../parts/use-capture.ts';
import { Problem, View } from '../../parts/view.tsx';
import { BatchProgress } from './batch-progress.tsx';
import { OptionField } from './option-field.tsx';
import { type OptionGroup, type OptionSchema, readOptionGroups } from './option-schema.ts';
import { groupTitle, optionTitle } from './option-words.ts';
import { Progress } from './progress.tsx';
import { useBatch } from './use-batch.ts';

type Options = Readonly<Record<string, unknown>>;

/** The capture form. A `from` in the address fills it in as an earlier capture was requested. */
export function Capture() {
  const from = query.value.get('from') ?? '';
  const url = query.value.get('url') ?? '';
  const earlier = useAnswer<DetailedResult>(from === '' ? undefined : `/results/${encodeURIComponent(from)}`);
  if (from !== '' && earlier.data === undefined && earlier.error === undefined)
    return <main id="main" class="view" aria-busy="true" />;
  const target = earlier.data === undefined ? url : (requestedTarget(earlier.data).url ?? '');
  return <Form key={`${from} ${url}`} url={target} earlier={earlier.data} error={earlier.error} />;
}

/** With it, captures that look alike can be found. */
const DEFAULTS: Options = { evidence: ['perception_hash', 'favicon'] };

interface FormProps {
  readonly url: string;
  readonly earlier: DetailedResult | undefined;
  /** Why the earlier capture could not be read. */
  readonly error: unknown;
}

/**
 * The common options have controls of their own; those under "Advanced" are generated from the API's option
 * definitions, so the form has every option of the service.
 */
function Form({ url, earlier, error }: FormProps) {
  const [text, setText] = useDraft('urls', url, withoutCredentials);
  const [changed, setChanged] = useDraft<Options>('options', {}, commonOf);
  const options: Options = { ...DEFAULTS, ...earlier?.options, ...changed };
  const [groups, setGroups] = useState<readonly OptionGroup[]>([]);
  const [unread, setUnread] = useState<unknown>(error);
  const { run, start, cancel } = useCapture();
  const { batch, ...batching } = useBatch();
  useEffect(() => {
    readOptionGroups().then(setGroups, setUnread);
  }, []);

  const urls = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const isBatch = urls.length > 1;
  const isOfHtml = urls.length === 0 && options.html !== undefined;
  const body = { ...(isOfHtml ? {} : { url: urls[0] ?? '' }), ...options };
  const problems = run.state === 'failed' && run.error instanceof CapstanFailure ? run.error.problems : [];
  const problemOf = (name: string) => problems.find(({ path }) => path === name)?.message;
  const urlProblem = problemOf('url');
  const isRunning = run.state === 'running' || batch?.isRunning === true;
  const change = (name: string, value: unknown) => setChanged((old) => ({ ...old, [name]: value }));
  const submit = (event: Event) => {
    event.preventDefault();
    if (isBatch) return batching.start(urls, options);
    batching.clear();
    start(body);
  };
  const request = isBatch
    ? { path: '/batch', method: 'POST', body: { requests: urls.map((each) => ({ ...options, url: each })) } }
    : { path: '/screenshot', method: 'POST', body };
  return (
    <View
      title={earlier === undefined ? 'Capture' : 'Capture again'}
      actions={<CopyAsCurl requests={() => [request]} />}
    >
      <div class="capture-columns">
        <form class="capture-form" onSubmit={submit} noValidate>
          <div class="panel capture-target">
            <label class="field">
              <span>URL</span>
              <textarea
                name="url"
                class="capture-urls"
                rows={Math.min(12, Math.max(2, text.split('\n').length + 1))}
                placeholder={'https://example.com\nSeveral: one on each line'}
                autocapitalize="none"
                spellcheck={false}
                value={text}
                aria-invalid={urlProblem !== undefined}
                aria-describedby={urlProblem === undefined ? undefined : 'url-problem'}
                onInput={({ currentTarget: { value } }) => setText(() => value)}
              />
            </label>
            {urlProblem !== undefined && (
              <p id="url-problem" class="error-text">
                {urlProblem}
              </p>
            )}
            <CommonOptions options={options} problemOf={problemOf} onChange={change} />
            {earlier !== undefined && earlier.options_withheld.length > 0 && (
              <p class="notice warn">
                Not kept with the capture, so enter it again: {earlier.options_withheld.map(optionTitle).join(', ')}
              </p>
            )}
            <button type="submit" class="button primary" disabled={isRunning || (urls.length === 0 && !isOfHtml)}>
              <Icon name="capture" />
              {isBatch ? `Capture ${urls.length} pages` : 'Capture'}
            </button>
          </div>
          {unread !== undefined && <Problem error={unread} />}
          <Advanced groups={groups} options={options} problems={problems} onChange={change} />
        </form>
        {batch === undefined ? (
          <Progress run={run} onCancel={cancel} />
        ) : (
          <BatchProgress batch={batch} onCancel={batching.cancel} />
        )}
      </div>
    </View>
  );
}

interface AdvancedProps {
  readonly groups: readonly OptionGroup[];
  readonly options: Options;
  readonly problems: readonly FieldProblem[];
  readonly onChange: (name: string, value: unknown) => void;
}

/** All options that have no control at the top. Open from the start when one of them is set or wrong. */
function Advanced({ groups, options, problems, onChange }: AdvancedProps) {
  const rest = groups.map(({ name, options: all }) => ({
    name,
    options: all.filter(([option]) => !COMMON.some((common) => common === option)),
  }));
  const names = rest.flatMap(({ options: all }) => all.map(([name]) => name));
  const set = rest.flatMap(({ options: all }) => all.filter(([name, schema]) => isSet(options, name, schema)));
  const isWrong = problems.some(({ path }) => names.includes(optionOf(path)));
  return (
    <details class="advanced" open={set.length > 0 || isWrong}>
      <summary>
        Advanced
        {set.length > 0 && <span class="badge">{set.length} set</span>}
      </summary>
      {rest.map((group) => (
        <Group key={group.name} group={group} options={options} problems={problems} onChange={onChange} />
      ))}
    </details>
  );
}

/** Returns whether an option has another value than the form, or the service, gives it by default. */
function isSet(options: Options, name: string, schema: OptionSchema): boolean {
  const value = options[name];
  return [undefined, DEFAULTS[name], schema.default].every((usual) => JSON.stringify(value) !== JSON.stringify(usual));
}

/** Returns the name of the option that a problem is about. */
function optionOf(path: string): string {
  return path.split(/[.[]/)[0] ?? '';
}

interface GroupProps {
  readonly group: OptionGroup;
  readonly options: Options;
  readonly problems: readonly FieldProblem[];
  readonly onChange: (name: string, value: unknown) => void;
}

function Group({ group, options, problems, onChange }: GroupProps) {
  const names = group.options.map(([name]) => name);
  const given = group.options.filter(([name, schema]) => isSet(options, name, schema)).length;
  const hasProblem = problems.some(({ path }) => names.includes(optionOf(path)));
  return (
    <details class="panel option-group" open={hasProblem || given > 0}>
      <summary>
        <span class="option-group-name">{groupTitle(group.name)}</span>
        {given > 0 && <span class="badge">{given} set</span>}
      </summary>
      <div class="options">
        {group.options.map(([name, schema]) => (
          <OptionField
            key={name}
            name={name}
            path={name}
            schema={schema}
            value={options[name]}
            problems={problems}
            onChange={(value) => onChange(name, value)}
          />
        ))}
      </div>
    </details>
  );
}

/** Returns the options that are kept: others may hold secrets. */
function commonOf(changed: Options): Options {
  return Object.fromEntries(Object.entries(changed).filter(([name]) => COMMON.some((common) => common === name)));
}
