/** Outlines on a grid of 24, drawn with the colour of the text. */
const PATHS = {
  gallery: 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z',
  capture: 'M4 8h3l2-3h6l2 3h3v11H4zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z',
  scans: 'M4 6h2M9 6h11M4 12h2M9 12h11M4 18h2M9 18h11',
  compare: 'M12 3v18M4 6h5v12H4zM15 6h5v12h-5z',
  watches: 'M2 12c3-5 6-7 10-7s7 2 10 7c-3 5-6 7-10 7s-7-2-10-7zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  receivers: 'M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  operations: 'M3 18l5-7 4 4 5-9 4 6',
  terminal: 'M4 6l5 6-5 6M12 18h8',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16.5 16.5L21 21',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  logout: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9',
  book: 'M12 6c-2-1.4-5-2-9-2v14c4 0 7 .6 9 2 2-1.4 5-2 9-2V4c-4 0-7 .6-9 2zM12 6v14',
  help: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .9-1 1.7M12 16.8v.01',
  filter: 'M4 6h16M7 12h10M10 18h4',
  close: 'M6 6l12 12M18 6L6 18',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  external: 'M13 5h6v6M19 5l-9 9M17 14v5H5V7h5',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.01',
  left: 'M14 6l-6 6 6 6',
  right: 'M10 6l6 6-6 6',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  share:
    'M18 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM18 22a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.6 10.5l6.8-4M8.6 13.5l6.8 4',
  feed: 'M5 5a14 14 0 0 1 14 14M5 11a8 8 0 0 1 8 8M6.5 17.5v.01',
  check: 'M5 12l5 5 9-10',
  label: 'M4 4h8l8 8-8 8-8-8zM8 8v.01',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
