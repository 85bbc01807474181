import { describe, expect, it } from 'vitest';
import { ACCEPT, ACKNOWLEDGE, REJECT } from '../../src/page-scripts/banner/words.ts';
import { folded } from '../../src/words/folded.ts';

describe('the words on a button of a cookie banner', () => {
  it.each([
    'Accept all cookies',
    'Accept All',
    'I agree',
    'Allow all',
    'Alle akzeptieren',
    'Alle Cookies akzeptieren',
    'Tout accepter',
    'Aceptar todas las cookies',
    'Accetta tutti',
    'Alles accepteren',
    'Zaakceptuj wszystkie',
    'OK, alle akzeptieren',
    'Ich akzeptiere alle',
    'Alle auswählen und bestätigen',
    'Accept / Close',
    'Accept & continue to site',
    'Ik ga akkoord',
    'Akzeptieren & Schließen',
    'Alle akzeptieren und weiterlesen',
    'Accepter & fermer',
    'Aceptar y cerrar',
    'Accetta e chiudi',
    'Aceitar e fechar',
    'Akceptuję i zamknij',
    '同意する',
    'Einverstanden',
    'D’accord',
    'Je suis d’accord',
    'De acuerdo',
    'Estoy de acuerdo',
    'Sono d’accordo',
  ])('recognises a button that accepts everything: %s', (words) => {
    expect(folded(words)).toMatch(ACCEPT);
    expect(folded(words)).not.toMatch(REJECT);
    // A refusal clicks a single button that acknowledges.
    expect(folded(words)).not.toMatch(ACKNOWLEDGE);
  });

  it.each([
    'Disagree and close',
    'Accept only essential cookies',
    'Nur technisch notwendige',
    'Continua senza accettare',
    'Recusar',
    'Endast nödvändiga',
    'Odmítnout vše',
    'Nie zgadzam się',
    'Afvis alle',
    'すべて拒否する',
  ])('accept as little as possible: %s', (words) => {
    expect(folded(words)).toMatch(REJECT);
    expect(folded(words)).not.toMatch(ACCEPT);
  });
});
