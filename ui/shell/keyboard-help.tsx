import { Dialog } from '../parts/dialog.tsx';

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['←', '→', '↑', '↓'], 'Move between captures, or groups, in the gallery'],
  [['Enter'], 'Open the capture'],
  [['x'], 'Select the capture'],
  [['l'], 'Label the selected captures, or the capture'],
  [['/'], 'Search'],
  [['g'], 'Gallery'],
  [['c'], 'Capture a page'],
  [['Esc'], 'Close a dialog'],
  [['?'], 'This help'],
];

export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
