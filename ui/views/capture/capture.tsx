import { useEffect, useState } from 'preact/hooks';
import { ApiError, type FieldProblem } from '../../api/client.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { Icon } from '../../parts/icon.tsx';
import { query } from '../../parts/route.ts';
import { Problem, View } from '../../parts/view.tsx';
import { OptionField, withField } from './option-field.tsx';
import { type OptionGroup, readOptionGroups } from './option-schema.ts';
import { Progress } from './progress.tsx';
import { useCapture } from './use-capture.ts';

type Options = Readonly<Record<string, unknown>>;

/** The capture form. It is generated from the API's option definitions, so it has every option of the service. */
export function Capture() {
  const [url, setUrl] = useState(query.value.get('url') ?? '');
  const [options, setOptions] = useState<Options>({});
  const [groups, setGroups] = useState<readonly OptionGroup[]>([]);
  const [unread, setUnread] = useState<unknown>();
  const { run, start, cancel } = useCapture();
  useEffect(() => {
    readOptionGroups().then(setGroups, setUnread);
  }, []);

  const body = { url, ...options };
  const problems = run.state === 'failed' && run.error instanceof ApiError ? run.error.problems : [];
  const urlProblem = problems.find(({ path }) => path === 'url')?.message;
  const submit = (event: Event) => {
    event.preventDefault();
    start(body);
  };
  return (
    <View
      title="Capture a page"
      actions={<CopyAsCurl requests={() => [{ path: '/screenshot', method: 'POST', body }]} />}
    >
      <div class="capture-columns">
        <form class="capture-form" onSubmit={submit} noValidate>
          <div class="panel capture-target">
            <label class="field">
              <span>URL</span>
              <input
                type="url"
                name="url"
                placeholder="https://example.com"
                autocapitalize="none"
                spellcheck={false}
                value={url}
                aria-invalid={urlProblem !== undefined}
                aria-describedby={urlProblem === undefined ? undefined : 'url-problem'}
                onInput={(event) => setUrl(event.currentTarget.value)}
              />
            </label>
            <button type="submit" class="button primary" disabled={run.state === 'running'}>
              <Icon name="capture" />
              Capture
            </button>
            {urlProblem !== undefined && (
              <p id="url-problem" class="error-text">
                {urlProblem}
              </p>
            )}
          </div>
          {unread !== undefined && <Problem error={unread} />}
          {groups.map((group, index) => (
            <Group
              key={group.name}
              group={group}
              isOpen={index === 0}
              options={options}
              problems={problems}
              onChange={(name, value) => setOptions((old) => withField(old, name, value) ?? {})}
            />
          ))}
        </form>
        <Progress run={run} onCancel={cancel} />
      </div>
    </View>
  );
}

interface GroupProps {
  readonly group: OptionGroup;
  readonly isOpen: boolean;
  readonly options: Options;
  readonly problems: readonly FieldProblem[];
  readonly onChange: (name: string, value: unknown) => void;
}

function Group({ group, isOpen, options, problems, onChange }: GroupProps) {
  const names = group.options.map(([name]) => name);
  const given = names.filter((name) => options[name] !== undefined).length;
  const hasProblem = problems.some(({ path }) => names.includes(path.split('.')[0] ?? ''));
  return (
    <details class="panel option-group" open={isOpen || hasProblem}>
      <summary>
        <span class="option-group-name">{group.name}</span>
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
