import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loginRequired } from './api/client.ts';
import { readSession } from './api/session.ts';
import { isShortcut, isTyping } from './parts/keyboard.ts';
import { goTo, path } from './parts/route.ts';
import { Problem, View } from './parts/view.tsx';
import { KeyboardHelp } from './shell/keyboard-help.tsx';
import { Navigation } from './shell/navigation.tsx';
import { Gallery } from './views/gallery/gallery.tsx';

type Load = () => Promise<FunctionComponent>;

/** Views that are loaded when they are first opened, by the beginning of their path. */
const LAZY: readonly (readonly [path: RegExp, load: Load])[] = [
  [/^\/capture$/, async () => (await import('./views/capture/capture.tsx')).Capture],
  [/^\/compare$/, async () => (await import('./views/compare/compare.tsx')).Compare],
  [/^\/operations$/, async () => (await import('./views/operations/operations.tsx')).Operations],
  [/^\/receivers$/, async () => (await import('./views/receivers/receivers.tsx')).Receivers],
  [/^\/scans$/, async () => (await import('./views/scans/scans.tsx')).Scans],
  [/^\/watches$/, async () => (await import('./views/watches/watches.tsx')).Watches],
  [/^\/watches\/(?:new|\d+)$/, async () => (await import('./views/watches/form/watch-form.tsx')).WatchForm],
  [/^\/watches\/\d+\/values$/, async () => (await import('./views/watches/values/values-view.tsx')).WatchedValues],
  [/^\/results\/\d+$/, async () => (await import('./views/detail/detail.tsx')).Detail],
];

const loadLogin: Load = async () => (await import('./views/login/login.tsx')).Login;

export function App() {
  const [needsHelp, setHelp] = useState(false);
  useEffect(() => {
    void readSession().catch(() => undefined);
    const onKey = (event: KeyboardEvent) => {
      if (isShortcut(event) || isTyping(event)) return;
      if (event.key === '?') setHelp(true);
      if (event.key === 'g') goTo('/');
      if (event.key === 'c') goTo('/capture');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  if (loginRequired.value) return <Lazy load={loadLogin} />;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the contents
      </a>
      <Navigation onHelp={() => setHelp(true)} />
      <CurrentView />
      {needsHelp && <KeyboardHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

function CurrentView() {
  const here = path.value;
  if (here === '/') return <Gallery />;
  const load = LAZY.find(([pattern]) => pattern.test(here))?.[1];
  if (load !== undefined) return <Lazy key={load} load={load} />;
  return (
    <View title="Not found">
      <Problem error={new Error(`There is no view ${here}.`)} />
    </View>
  );
}

function Lazy({ load }: { readonly load: Load }) {
  const [loaded, setLoaded] = useState<{ readonly view: FunctionComponent } | { readonly error: unknown }>();
  useEffect(() => {
    load().then(
      (view) => setLoaded({ view }),
      (error: unknown) => setLoaded({ error }),
    );
  }, [load]);
  if (loaded === undefined) return <main id="main" class="view" aria-busy="true" />;
  if ('view' in loaded) return <loaded.view />;
  return (
    <View title="Not loaded">
      <Problem error={new Error('This part of the page could not be loaded.')} retry={() => location.reload()} />
    </View>
  );
}
