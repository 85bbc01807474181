import { useState } from 'preact/hooks';
import { logIn } from '../../api/session.ts';
import { Logo } from '../../shell/navigation.tsx';

/** Asks for an API key when the service requires one. The key is sent once and not stored. */
export function Login() {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    setBusy(true);
    setError(undefined);
    try {
      await logIn(String(key).trim());
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
      setBusy(false);
    }
  };
  return (
    <main id="main" class="login">
      <form class="panel" onSubmit={submit}>
        <Logo />
        <h1>Log in to Capstan</h1>
        <label class="field">
          <span>API key</span>
          <input
            name="key"
            type="password"
            required
            autocomplete="current-password"
            aria-invalid={error !== undefined}
            aria-describedby={error === undefined ? undefined : 'login-error'}
          />
        </label>
        {error !== undefined && (
          <p id="login-error" class="error-text" role="alert">
            {error}
          </p>
        )}
        <button type="submit" class="button primary" disabled={isBusy}>
          Log in
        </button>
        <p class="muted">The key is exchanged for a cookie that is valid for 12 hours. This page does not keep it.</p>
      </form>
    </main>
  );
}
