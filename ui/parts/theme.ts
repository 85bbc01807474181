import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const STORED = 'capstan-theme';

/** The chosen colour theme; `system` follows the setting of the operating system. */
export const theme = signal<Theme>(read());

function read(): Theme {
  const stored = localStorage.getItem(STORED);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

effect(() => {
  if (theme.value === 'system') {
    localStorage.removeItem(STORED);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(STORED, theme.value);
    document.documentElement.dataset.theme = theme.value;
  }
});

/** Returns whether dark colours are shown. */
export function isDark(): boolean {
  return theme.value === 'dark' || (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
}
