import { CommonOptions } from '../../../parts/common-options.tsx';
import { withField } from '../../../parts/with-field.ts';
import { COMPARED, type Compared, type Draft } from './watch-draft.ts';

export const INTERVALS = ['1m', '10m', '1h', '6h', '1d', '7d'] as const;

const COMPARED_NAMES: Readonly<Record<Compared, string>> = {
  visual: 'Picture',
  text: 'Text',
  links: 'Links',
  title: 'Title',
  status: 'Status',
  verdict: 'Verdict',
};

interface WatchFieldsProps {
  readonly draft: Draft;
  readonly isNew: boolean;
  readonly onChange: (part: Partial<Draft>) => void;
}

/** Fields of a watch: the page, the times, and what is compared. */
export function WatchFields({ draft, isNew, onChange }: WatchFieldsProps) {
  const { url, timing, every, schedule, timeZone, compare, labels, options } = draft;
  return (
    <section class="panel watch-fields">
      <PageField url={url} isReadOnly={!isNew} onChange={(next) => onChange({ url: next })} />
      <div class="watch-when">
        <label class="field">
          <span>When</span>
          <select
            value={timing}
            onChange={(event) => onChange({ timing: event.currentTarget.value === 'every' ? 'every' : 'schedule' })}
          >
            <option value="every">Every</option>
            <option value="schedule">By a cron pattern</option>
          </select>
        </label>
        {timing === 'every' ? (
          <label class="field">
            <span>Interval</span>
            <select value={every} onChange={(event) => onChange({ every: event.currentTarget.value })}>
              {[...new Set([...INTERVALS, every])].map((interval) => (
                <option key={interval}>{interval}</option>
              ))}
            </select>
          </label>
        ) : (
          <>
            <label class="field">
              <span>Pattern</span>
              <input
                type="text"
                value={schedule}
                onInput={(event) => onChange({ schedule: event.currentTarget.value })}
              />
            </label>
            <label class="field">
              <span>Time zone</span>
              <input
                type="text"
                value={timeZone}
                onInput={(event) => onChange({ timeZone: event.currentTarget.value })}
              />
            </label>
          </>
        )}
      </div>
      <fieldset class="watch-compared">
        <legend>Compare</legend>
        {COMPARED.map((name) => (
          <label key={name} class="option-flag">
            <input
              type="checkbox"
              checked={compare[name] !== undefined && compare[name] !== false}
              onChange={(event) => onChange({ compare: { ...compare, [name]: event.currentTarget.checked } })}
            />
            {COMPARED_NAMES[name]}
          </label>
        ))}
      </fieldset>
      <CommonOptions
        options={options}
        problemOf={() => undefined}
        onChange={(name, value) => onChange({ options: withField(options, name, value) ?? {} })}
      />
      <label class="field">
        <span>Labels, separated by commas</span>
        <input type="text" value={labels} onInput={(event) => onChange({ labels: event.currentTarget.value })} />
      </label>
    </section>
  );
}

interface PageFieldProps {
  readonly url: string;
  readonly isReadOnly?: boolean;
  readonly onChange: (url: string) => void;
}

/** The URL of the watched page. */
export function PageField({ url, isReadOnly = false, onChange }: PageFieldProps) {
  return (
    <label class="field">
      <span>Page</span>
      <input
        type="text"
        inputMode="url"
        required
        readOnly={isReadOnly}
        placeholder="https://example.com/"
        value={url}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
