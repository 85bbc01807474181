import { useState } from 'preact/hooks';
import { queryOf, send } from '../../api/client.ts';
import type { Scan } from '../../api/types.ts';
import { integer } from '../../parts/format.ts';
import { useDraft, withoutCredentials } from '../../parts/kept.ts';
import { SelectField } from '../../parts/select.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';

/** Maximum number of characters of a file that are shown in the form. */
const MAX_SHOWN = 200_000;

const SCHEMES = [
  ['', 'what answers'],
  ['https', 'https'],
  ['http', 'http'],
  ['https,http', 'both'],
] as const;

/** The gallery groups captures by their icons. */
const CAPTURE = JSON.stringify({ evidence: ['favicon'] });

/** Returns the text in UTF-8; undefined when it is not. */
function utf8In(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The form that begins a scan: a list to write, paste, choose or drop. */
export function ScanForm({ onStarted }: { readonly onStarted: (scan: Scan) => void }) {
  const [text, setText] = useDraft('list', '', withoutCredentials);
  const [file, setFile] = useState<File>();
  const [ports, setPorts] = useDraft('ports', '');
  const [schemes, setSchemes] = useState<(typeof SCHEMES)[number][0]>('');
  const [started, setStarted] = useState<Scan>();
  const { error, isRunning, attempt } = useAttempt();
  const choose = async (chosen: File | undefined) => {
    if (chosen === undefined) return;
    // A long file, and one that is compressed or in another encoding, is sent as it is.
    const shown = chosen.size <= MAX_SHOWN ? utf8In(await chosen.arrayBuffer()) : undefined;
    setFile(shown === undefined ? chosen : undefined);
    setText(() => shown ?? '');
  };
  const start = async (event: Event) => {
    event.preventDefault();
    setStarted(undefined);
    await attempt(async () => {
      const headers = { 'Content-Type': 'application/octet-stream' };
      const options = { method: 'POST', headers, body: file ?? text } as const;
      const response = await send(`/scans${queryOf({ ports, schemes, capture: CAPTURE })}`, options);
      const { data }: { readonly data: Scan } = await response.json();
      setStarted(data);
      setText(() => '');
      setFile(undefined);
      onStarted(data);
    });
  };
  const onDrop = (event: DragEvent) => {
    const [dropped] = event.dataTransfer?.files ?? [];
    if (dropped === undefined) return;
    event.preventDefault();
    void choose(dropped);
  };
  return (
    <form class="panel scan-form" onSubmit={(event) => void start(event)}>
      <label class="field">
        <span>Targets</span>
        <textarea
          rows={8}
          spellcheck={false}
          placeholder={
            'example.com\n192.0.2.0/28\nor the output of nmap or masscan, a sitemap, CSV: paste it, or drop a file'
          }
          value={file === undefined ? text : `${file.name}, ${integer(file.size)} bytes`}
          readOnly={file !== undefined}
          onInput={({ currentTarget: { value } }) => setText(() => value)}
          onDragOver={(event) => event.preventDefault()}
          onDrop={onDrop}
        />
      </label>
      <div class="scan-settings">
        <label class="field">
          <span>File</span>
          <input type="file" onChange={(event) => void choose(event.currentTarget.files?.[0])} />
        </label>
        <TextField label="Ports" placeholder="of the scheme" value={ports} onInput={(value) => setPorts(() => value)} />
        <SelectField label="Schemes" value={schemes} options={SCHEMES} onChange={setSchemes} />
        <button type="submit" class="button primary" disabled={isRunning || (text.trim() === '' && file === undefined)}>
          Scan
        </button>
      </div>
      {error !== undefined && <Problem error={error} />}
      {started !== undefined && <ListReport scan={started} />}
    </form>
  );
}

/** Shows how many targets the list of a scan has, and what was left out. */
function ListReport({ scan: { list } }: { readonly scan: Scan }) {
  const reasons = Object.entries(list.left_out).map(
    ([reason, count]) => `${integer(count)} ${reason.replaceAll('_', ' ')}`,
  );
  return (
    <div role="status">
      <p>
        {integer(list.targets)} {list.targets === 1 ? 'target' : 'targets'}
        {reasons.length > 0 && `; left out: ${reasons.join(', ')}`}
      </p>
      {list.problems.length > 0 && (
        <ul class="scan-problems">
          {list.problems.map(({ line, text, problem }) => (
            <li key={line}>
              Line {integer(line)}: <code>{text}</code> {problem}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
