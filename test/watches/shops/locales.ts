/** How shops of a country write prices, and the words around them. Texts are HTML. */
export interface Locale {
  readonly lang: string;
  /** ISO 4217, or null for a currency without a code. */
  readonly currency: string | null;
  readonly rightToLeft?: boolean;
  /** About what one US dollar buys. */
  readonly unit: number;
  readonly decimals: 0 | 2;
  readonly write: (amount: number) => string;
  /** The parts of a price that is split into elements: sign, whole, separator and cents. The sign may be last. */
  readonly sign: { readonly text: string; readonly isLast: boolean };
  readonly separators: { readonly group: string; readonly decimal: string };
  readonly digits?: string;
  readonly words: Words;
}

export interface Words {
  readonly inStock: string;
  readonly outOfStock: string;
  readonly add: string;
  readonly was: string;
  readonly now: string;
  readonly from: string;
  readonly instalments: (amount: string) => string;
  readonly save: string;
  readonly shipping: (amount: string) => string;
  readonly tax: string;
  readonly perKilo: (amount: string) => string;
  readonly lowest: (amount: string) => string;
  readonly results: (count: string) => string;
  readonly jobs: string;
  readonly cookies: readonly [text: string, accept: string, reject: string];
  readonly robot: readonly [title: string, text: string];
  readonly oops: readonly [title: string, text: string];
  readonly about: string;
}

const NBSP = '&nbsp;';
const THIN = '\u202f';

/** Groups the digits of a whole number, in India the last three and then pairs. */
export function grouped(whole: number, group: string, isIndian = false): string {
  const places = isIndian ? /(\d)(?=(\d\d)+\d$)/g : /(\d)(?=(\d{3})+$)/g;
  return String(whole).replace(places, `$1${group}`);
}

export const withDigits = (text: string, digits: string | undefined): string =>
  digits === undefined ? text : text.replace(/\d/g, (digit) => [...digits][Number(digit)] ?? digit);

interface Form {
  readonly group: string;
  readonly decimal: string;
  readonly decimals?: 0 | 2;
  readonly isIndian?: boolean;
  /** In place of cents that are zero, such as `.–`. */
  readonly noCents?: string;
  readonly digits?: string;
}

export function writer(before: string, after: string, form: Form): (amount: number) => string {
  return (amount) => {
    const cents = Math.round(amount * 100) % 100;
    const whole = grouped(Math.floor(amount + 0.001), form.group, form.isIndian);
    const rest =
      form.decimals === 0
        ? ''
        : cents === 0 && form.noCents !== undefined
          ? form.noCents
          : form.decimal + String(cents).padStart(2, '0');
    return before + withDigits(whole + rest, form.digits) + after;
  };
}

const EN: Words = {
  inStock: 'In stock',
  outOfStock: 'Sold out',
  add: 'Add to cart',
  was: 'Was',
  now: 'Now',
  from: 'From',
  instalments: (amount) => `or 4 interest-free payments of ${amount} with <b>Afterpay</b>`,
  save: 'Save',
  shipping: (amount) => `+ ${amount} shipping`,
  tax: 'Tax included.',
  perKilo: (amount) => `${amount}/kg`,
  lowest: (amount) => `Lowest price in the last 30 days: ${amount}`,
  results: (count) => `${count} results`,
  jobs: 'Harbour pilot',
  cookies: [
    'We value your privacy. We and our 842 partners use cookies to store information on a device.',
    'Accept all',
    'Reject all',
  ],
  robot: ['Just a moment...', 'Verify you are human by completing the action below.'],
  oops: ['Something went wrong', 'Sorry, an error occurred on our side. Please try again later.'],
  about:
    'The harbour lamp is made of solid brass and glass. It withstands salt water, storms and frost, and gives a warm light for forty hours.',
};

const LATIN_DE: Words = {
  inStock: 'Auf Lager, in 2–3 Werktagen bei dir',
  outOfStock: 'Ausverkauft',
  add: 'In den Warenkorb',
  was: 'Statt',
  now: 'Jetzt',
  from: 'ab',
  instalments: (amount) => `oder 12 Raten zu je ${amount} mit Klarna`,
  save: 'Du sparst',
  shipping: (amount) => `zzgl. ${amount} Versand`,
  tax: 'inkl. 19&nbsp;% MwSt.',
  perKilo: (amount) => `(${amount}* / 1 kg)`,
  lowest: (amount) => `30-Tage-Bestpreis: ${amount}`,
  results: (count) => `${count} Ergebnisse`,
  jobs: 'Hafenlotse (m/w/d)',
  cookies: [
    'Wir und unsere 842 Partner verwenden Cookies, um Informationen auf Ihrem Gerät zu speichern.',
    'Alle akzeptieren',
    'Ablehnen',
  ],
  robot: ['Nur einen Moment…', 'Bestätigen Sie, dass Sie ein Mensch sind.'],
  oops: ['Da ist etwas schiefgelaufen', 'Leider ist ein Fehler aufgetreten. Bitte versuchen Sie es später erneut.'],
  about:
    'Die Hafenlampe ist aus massivem Messing und Glas. Sie trotzt Salzwasser, Sturm und Frost und leuchtet vierzig Stunden lang in warmem Licht.',
};

const AR_DIGITS = '٠١٢٣٤٥٦٧٨٩';
const FA_DIGITS = '۰۱۲۳۴۵۶۷۸۹';
const HI_DIGITS = '०१२३४५६७८९';

const point = { group: '.', decimal: ',' };
const comma = { group: ',', decimal: '.' };

export const LOCALES: readonly Locale[] = [
  {
    lang: 'en-US',
    currency: 'USD',
    unit: 1,
    decimals: 2,
    write: writer('$', '', comma),
    sign: { text: '$', isLast: false },
    separators: comma,
    words: EN,
  },
  {
    lang: 'de-DE',
    currency: 'EUR',
    unit: 1,
    decimals: 2,
    write: writer('', `${NBSP}€`, point),
    sign: { text: '€', isLast: true },
    separators: point,
    words: LATIN_DE,
  },
  {
    lang: 'en-GB',
    currency: 'GBP',
    unit: 0.8,
    decimals: 2,
    write: writer('£', '', comma),
    sign: { text: '£', isLast: false },
    separators: comma,
    words: {
      ...EN,
      was: 'RRP',
      tax: 'inc. VAT',
      add: 'Add to basket',
      instalments: (amount) => `Pay in 3 instalments of ${amount} with PayPal`,
      outOfStock: 'Out of stock',
    },
  },
  {
    lang: 'en-IN',
    currency: 'INR',
    unit: 80,
    decimals: 2,
    write: writer('₹', '', { ...comma, isIndian: true }),
    sign: { text: '₹', isLast: false },
    separators: comma,
    words: {
      ...EN,
      was: 'M.R.P.:',
      tax: 'Inclusive of all taxes',
      instalments: (amount) => `EMI starts at ${amount}. No Cost EMI available`,
      outOfStock: 'Currently unavailable.',
    },
  },
  {
    lang: 'de-CH',
    currency: 'CHF',
    unit: 1,
    decimals: 2,
    write: writer('CHF ', '', { group: '’', decimal: '.', noCents: '.–' }),
    sign: { text: 'CHF', isLast: false },
    separators: { group: '’', decimal: '.' },
    words: { ...LATIN_DE, was: 'vorher', tax: 'inkl. MwSt., vRG 0.20', add: 'In den Warenkorb legen' },
  },
  {
    lang: 'fr-FR',
    currency: 'EUR',
    unit: 1,
    decimals: 2,
    write: writer('', `${NBSP}€`, { group: THIN, decimal: ',' }),
    sign: { text: '€', isLast: true },
    separators: { group: THIN, decimal: ',' },
    words: {
      inStock: 'En stock',
      outOfStock: 'Rupture de stock',
      add: 'Ajouter au panier',
      was: 'Ancien prix',
      now: 'Prix promo',
      from: 'À partir de',
      instalments: (amount) => `ou payez en 4x ${amount} sans frais`,
      save: 'Économisez',
      shipping: (amount) => `+ ${amount} de frais de port`,
      tax: 'TTC, dont éco-part.',
      perKilo: (amount) => `soit ${amount} / kg`,
      lowest: (amount) => `Prix le plus bas des 30 derniers jours : ${amount}`,
      results: (count) => `${count} résultats`,
      jobs: 'Pilote de port H/F',
      cookies: [
        'Avec votre accord, nos 842 partenaires et nous utilisons des cookies pour stocker des informations sur votre appareil.',
        'Tout accepter',
        'Continuer sans accepter',
      ],
      robot: ['Un instant…', 'Vérifiez que vous êtes humain.'],
      oops: ['Une erreur est survenue', 'Désolé, une erreur est survenue. Veuillez réessayer plus tard.'],
      about:
        'La lampe de port est en laiton massif et en verre. Elle résiste à l’eau salée, aux tempêtes et au gel, et éclaire quarante heures d’une lumière chaude.',
    },
  },
  {
    lang: 'es-MX',
    currency: 'MXN',
    unit: 18,
    decimals: 2,
    write: writer('$', '', comma),
    sign: { text: '$', isLast: false },
    separators: comma,
    words: {
      inStock: 'Disponible',
      outOfStock: 'Agotado',
      add: 'Agregar al carrito',
      was: 'Antes',
      now: 'Ahora',
      from: 'Desde',
      instalments: (amount) => `12 meses sin intereses de ${amount}`,
      save: 'Ahorra',
      shipping: (amount) => `Envío: ${amount}`,
      tax: 'IVA incluido',
      perKilo: (amount) => `${amount} por kg`,
      lowest: (amount) => `Precio más bajo de los últimos 30 días: ${amount}`,
      results: (count) => `${count} resultados`,
      jobs: 'Práctico de puerto',
      cookies: [
        'Nosotros y nuestros 842 socios usamos cookies para almacenar información en su dispositivo.',
        'Aceptar todo',
        'Rechazar todo',
      ],
      robot: ['Un momento…', 'Verifique que es un ser humano.'],
      oops: ['Algo salió mal', 'Lo sentimos, ocurrió un error. Inténtelo de nuevo más tarde.'],
      about:
        'La lámpara de puerto es de latón macizo y vidrio. Resiste el agua salada, las tormentas y las heladas, y da una luz cálida durante cuarenta horas.',
    },
  },
  {
    lang: 'pt-BR',
    currency: 'BRL',
    unit: 5,
    decimals: 2,
    write: writer(`R$${NBSP}`, '', point),
    sign: { text: 'R$', isLast: false },
    separators: point,
    words: {
      inStock: 'Em estoque',
      outOfStock: 'Produto indisponível',
      add: 'Adicionar ao carrinho',
      was: 'De',
      now: 'Por',
      from: 'A partir de',
      instalments: (amount) => `em até 12x de ${amount} sem juros`,
      save: 'Economize',
      shipping: (amount) => `Frete: ${amount}`,
      tax: 'à vista no Pix',
      perKilo: (amount) => `${amount}/kg`,
      lowest: (amount) => `Menor preço dos últimos 30 dias: ${amount}`,
      results: (count) => `${count} resultados`,
      jobs: 'Prático de porto',
      cookies: [
        'Nós e nossos 842 parceiros usamos cookies para armazenar informações no seu dispositivo.',
        'Aceitar tudo',
        'Rejeitar',
      ],
      robot: ['Um momento…', 'Confirme que você é humano.'],
      oops: ['Algo deu errado', 'Desculpe, ocorreu um erro. Tente novamente mais tarde.'],
      about:
        'A luminária do porto é de latão maciço e vidro. Resiste à água salgada, a tempestades e à geada, e ilumina por quarenta horas com luz quente.',
    },
  },
  {
    lang: 'nl-NL',
    currency: 'EUR',
    unit: 1,
    decimals: 2,
    write: writer('€ ', '', { ...point, noCents: ',-' }),
    sign: { text: '€', isLast: false },
    separators: point,
    words: {
      inStock: 'Op voorraad',
      outOfStock: 'Uitverkocht',
      add: 'In winkelwagen',
      was: 'Adviesprijs',
      now: 'Nu',
      from: 'Vanaf',
      instalments: (amount) => `of betaal in 3 termijnen van ${amount}`,
      save: 'Je bespaart',
      shipping: (amount) => `Verzendkosten ${amount}`,
      tax: 'incl. btw',
      perKilo: (amount) => `${amount} per kg`,
      lowest: (amount) => `Laagste prijs van de afgelopen 30 dagen: ${amount}`,
      results: (count) => `${count} resultaten`,
      jobs: 'Havenloods',
      cookies: [
        'Wij en onze 842 partners gebruiken cookies om informatie op je apparaat op te slaan.',
        'Alles accepteren',
        'Weigeren',
      ],
      robot: ['Een ogenblik…', 'Bevestig dat je een mens bent.'],
      oops: ['Er ging iets mis', 'Sorry, er is een fout opgetreden. Probeer het later opnieuw.'],
      about:
        'De havenlamp is van massief messing en glas. Zij doorstaat zout water, storm en vorst, en geeft veertig uur lang warm licht.',
    },
  },
  {
    lang: 'sv-SE',
    currency: 'SEK',
    unit: 10,
    decimals: 0,
    write: writer('', ' kr', { group: NBSP, decimal: ',', decimals: 0 }),
    sign: { text: 'kr', isLast: true },
    separators: { group: NBSP, decimal: ',' },
    words: {
      inStock: 'I lager',
      outOfStock: 'Slutsåld',
      add: 'Lägg i varukorgen',
      was: 'Ord. pris',
      now: 'Nu',
      from: 'Från',
      instalments: (amount) => `Delbetala från ${amount}/mån`,
      save: 'Spara',
      shipping: (amount) => `Frakt ${amount}`,
      tax: 'inkl. moms',
      perKilo: (amount) => `Jmf-pris ${amount}/kg`,
      lowest: (amount) => `Lägsta pris senaste 30 dagarna: ${amount}`,
      results: (count) => `${count} träffar`,
      jobs: 'Hamnlots',
      cookies: [
        'Vi och våra 842 partner använder cookies för att lagra information på din enhet.',
        'Acceptera alla',
        'Avvisa',
      ],
      robot: ['Ett ögonblick…', 'Bekräfta att du är en människa.'],
      oops: ['Något gick fel', 'Tyvärr har ett fel inträffat. Försök igen senare.'],
      about:
        'Hamnlampan är av massiv mässing och glas. Den tål saltvatten, storm och frost och lyser varmt i fyrtio timmar.',
    },
  },
  {
    lang: 'pl-PL',
    currency: 'PLN',
    unit: 4,
    decimals: 2,
    write: writer('', ' zł', { group: ' ', decimal: ',' }),
    sign: { text: 'zł', isLast: true },
    separators: { group: ' ', decimal: ',' },
    words: {
      inStock: 'Dostępny',
      outOfStock: 'Produkt niedostępny',
      add: 'Do koszyka',
      was: 'Cena regularna',
      now: 'Teraz',
      from: 'od',
      instalments: (amount) => `10 rat x ${amount}`,
      save: 'Oszczędzasz',
      shipping: (amount) => `Dostawa: ${amount}`,
      tax: 'z VAT',
      perKilo: (amount) => `${amount} / kg`,
      lowest: (amount) => `Najniższa cena z 30 dni przed obniżką: ${amount}`,
      results: (count) => `${count} wyników`,
      jobs: 'Pilot portowy',
      cookies: [
        'My i nasi 842 partnerzy używamy plików cookie, aby przechowywać informacje na urządzeniu.',
        'Akceptuję wszystkie',
        'Odrzucam',
      ],
      robot: ['Chwileczkę…', 'Potwierdź, że jesteś człowiekiem.'],
      oops: ['Coś poszło nie tak', 'Przepraszamy, wystąpił błąd. Spróbuj ponownie później.'],
      about:
        'Lampa portowa jest z litego mosiądzu i szkła. Znosi słoną wodę, sztormy i mróz, a ciepłe światło daje przez czterdzieści godzin.',
    },
  },
  {
    lang: 'cs-CZ',
    currency: 'CZK',
    unit: 22,
    decimals: 0,
    write: writer('', `${NBSP}Kč`, { group: NBSP, decimal: ',', decimals: 0 }),
    sign: { text: 'Kč', isLast: true },
    separators: { group: NBSP, decimal: ',' },
    words: {
      inStock: 'Skladem',
      outOfStock: 'Vyprodáno',
      add: 'Do košíku',
      was: 'Původní cena',
      now: 'Nyní',
      from: 'od',
      instalments: (amount) => `Na splátky 10 × ${amount}`,
      save: 'Ušetříte',
      shipping: (amount) => `Doprava ${amount}`,
      tax: 'vč. DPH',
      perKilo: (amount) => `${amount} / kg`,
      lowest: (amount) => `Nejnižší cena za 30 dní: ${amount}`,
      results: (count) => `${count} výsledků`,
      jobs: 'Přístavní lodivod',
      cookies: [
        'My a našich 842 partnerů používáme soubory cookie k ukládání informací ve vašem zařízení.',
        'Přijmout vše',
        'Odmítnout',
      ],
      robot: ['Okamžik…', 'Ověřte, že jste člověk.'],
      oops: ['Něco se pokazilo', 'Omlouváme se, došlo k chybě. Zkuste to prosím později.'],
      about:
        'Přístavní lampa je z masivní mosazi a skla. Odolá slané vodě, bouřím i mrazu a svítí teplým světlem čtyřicet hodin.',
    },
  },
  {
    lang: 'ru-RU',
    currency: 'RUB',
    unit: 90,
    decimals: 0,
    write: writer('', ' ₽', { group: '\u2009', decimal: ',', decimals: 0 }),
    sign: { text: '₽', isLast: true },
    separators: { group: '\u2009', decimal: ',' },
    words: {
      inStock: 'В наличии',
      outOfStock: 'Нет в наличии',
      add: 'В корзину',
      was: 'Старая цена',
      now: 'Цена сейчас',
      from: 'от',
      instalments: (amount) => `${amount} × 6 мес. в рассрочку`,
      save: 'Экономия',
      shipping: (amount) => `Доставка ${amount}`,
      tax: 'с НДС',
      perKilo: (amount) => `${amount} / кг`,
      lowest: (amount) => `Минимальная цена за 30 дней: ${amount}`,
      results: (count) => `${count} товаров`,
      jobs: 'Портовый лоцман',
      cookies: [
        'Мы и наши 842 партнёра используем файлы cookie для хранения информации на вашем устройстве.',
        'Принять все',
        'Отклонить',
      ],
      robot: ['Один момент…', 'Подтвердите, что вы человек.'],
      oops: ['Что-то пошло не так', 'Произошла ошибка. Повторите попытку позже.'],
      about:
        'Портовый фонарь сделан из цельной латуни и стекла. Он выдерживает солёную воду, штормы и мороз и светит тёплым светом сорок часов.',
    },
  },
  {
    lang: 'tr-TR',
    currency: 'TRY',
    unit: 30,
    decimals: 2,
    write: writer('', ' TL', point),
    sign: { text: 'TL', isLast: true },
    separators: point,
    words: {
      inStock: 'Stokta var',
      outOfStock: 'Tükendi',
      add: 'Sepete Ekle',
      was: 'Eski fiyat',
      now: 'Sepette',
      from: 'Başlayan fiyatlarla',
      instalments: (amount) => `9 taksit x ${amount}`,
      save: 'Kazancınız',
      shipping: (amount) => `Kargo ${amount}`,
      tax: 'KDV dahil',
      perKilo: (amount) => `${amount} / kg`,
      lowest: (amount) => `Son 30 günün en düşük fiyatı: ${amount}`,
      results: (count) => `${count} sonuç`,
      jobs: 'Liman kılavuzu',
      cookies: [
        'Biz ve 842 ortağımız cihazınızda bilgi saklamak için çerezler kullanıyoruz.',
        'Tümünü kabul et',
        'Reddet',
      ],
      robot: ['Bir dakika…', 'İnsan olduğunuzu doğrulayın.'],
      oops: ['Bir şeyler ters gitti', 'Üzgünüz, bir hata oluştu. Lütfen daha sonra tekrar deneyin.'],
      about:
        'Liman lambası masif pirinç ve camdan yapılmıştır. Tuzlu suya, fırtınaya ve dona dayanır, kırk saat sıcak ışık verir.',
    },
  },
  {
    lang: 'ja-JP',
    currency: 'JPY',
    unit: 150,
    decimals: 0,
    write: writer('', '円', { group: ',', decimal: '.', decimals: 0 }),
    sign: { text: '￥', isLast: false },
    separators: comma,
    words: {
      inStock: '在庫あり',
      outOfStock: '売り切れ',
      add: 'カートに入れる',
      was: '通常価格',
      now: '特別価格',
      from: '最安',
      instalments: (amount) => `分割払い 月々${amount}`,
      save: '割引',
      shipping: (amount) => `送料${amount}`,
      tax: '（税込）',
      perKilo: (amount) => `1kgあたり${amount}`,
      lowest: (amount) => `過去30日間の最安値：${amount}`,
      results: (count) => `${count}件`,
      jobs: '港湾水先人',
      cookies: [
        '当社と842のパートナーは、お使いの端末に情報を保存するためにCookieを使用します。',
        'すべて同意する',
        '拒否する',
      ],
      robot: ['しばらくお待ちください...', 'あなたが人間であることを確認します。'],
      oops: ['エラーが発生しました', '申し訳ございません。しばらくしてからもう一度お試しください。'],
      about:
        '港のランプは真鍮とガラスで作られています。塩水、嵐、霜に耐え、四十時間にわたって暖かい光を放ちます。職人が一つずつ手で仕上げました。',
    },
  },
  {
    lang: 'ko-KR',
    currency: 'KRW',
    unit: 1300,
    decimals: 0,
    write: writer('', '원', { group: ',', decimal: '.', decimals: 0 }),
    sign: { text: '원', isLast: true },
    separators: comma,
    words: {
      inStock: '재고 있음',
      outOfStock: '품절',
      add: '장바구니 담기',
      was: '정가',
      now: '할인가',
      from: '최저',
      instalments: (amount) => `월 ${amount} (12개월 무이자 할부)`,
      save: '할인',
      shipping: (amount) => `배송비 ${amount}`,
      tax: '부가세 포함',
      perKilo: (amount) => `(100g당 ${amount})`,
      lowest: (amount) => `최근 30일 최저가 ${amount}`,
      results: (count) => `${count}개 상품`,
      jobs: '항만 도선사',
      cookies: ['당사와 842개 파트너는 귀하의 기기에 정보를 저장하기 위해 쿠키를 사용합니다.', '모두 동의', '거부'],
      robot: ['잠시만 기다려 주세요…', '사람인지 확인하십시오.'],
      oops: ['문제가 발생했습니다', '죄송합니다. 오류가 발생했습니다. 나중에 다시 시도해 주세요.'],
      about:
        '항구 램프는 단단한 황동과 유리로 만들어졌습니다. 소금물과 폭풍과 서리를 견디며 마흔 시간 동안 따뜻한 빛을 냅니다.',
    },
  },
  {
    lang: 'ar-EG',
    currency: 'EGP',
    rightToLeft: true,
    unit: 30,
    decimals: 2,
    write: writer('', ' ج.م.‏', { group: '٬', decimal: '٫', digits: AR_DIGITS }),
    sign: { text: 'ج.م.', isLast: true },
    separators: { group: '٬', decimal: '٫' },
    digits: AR_DIGITS,
    words: {
      inStock: 'متوفر',
      outOfStock: 'غير متوفر حاليًا',
      add: 'أضف إلى العربة',
      was: 'السعر السابق',
      now: 'السعر الآن',
      from: 'ابتداءً من',
      instalments: (amount) => `أو ٤ دفعات بقيمة ${amount} بدون فوائد`,
      save: 'وفّر',
      shipping: (amount) => `الشحن ${amount}`,
      tax: 'شامل الضريبة',
      perKilo: (amount) => `${amount} / كجم`,
      lowest: (amount) => `أقل سعر خلال ٣٠ يومًا: ${amount}`,
      results: (count) => `${count} نتيجة`,
      jobs: 'مرشد ميناء',
      cookies: [
        'نستخدم نحن وشركاؤنا البالغ عددهم ٨٤٢ ملفات تعريف الارتباط لتخزين المعلومات على جهازك.',
        'قبول الكل',
        'رفض',
      ],
      robot: ['لحظة…', 'تحقق من أنك إنسان.'],
      oops: ['حدث خطأ ما', 'عذرًا، حدث خطأ. يرجى المحاولة مرة أخرى لاحقًا.'],
      about:
        'مصباح الميناء مصنوع من النحاس الصلب والزجاج. يتحمل الماء المالح والعواصف والصقيع، ويعطي ضوءًا دافئًا لمدة أربعين ساعة.',
    },
  },
  {
    lang: 'he-IL',
    currency: 'ILS',
    rightToLeft: true,
    unit: 3.6,
    decimals: 2,
    write: writer('\u200f', `${NBSP}₪`, comma),
    sign: { text: '₪', isLast: true },
    separators: comma,
    words: {
      inStock: 'במלאי',
      outOfStock: 'אזל מהמלאי',
      add: 'הוספה לסל',
      was: 'מחיר קודם',
      now: 'מחיר מבצע',
      from: 'החל מ-',
      instalments: (amount) => `או 12 תשלומים של ${amount} ללא ריבית`,
      save: 'חסכון',
      shipping: (amount) => `משלוח ${amount}`,
      tax: 'כולל מע״מ',
      perKilo: (amount) => `${amount} לק״ג`,
      lowest: (amount) => `המחיר הנמוך ב-30 הימים האחרונים: ${amount}`,
      results: (count) => `${count} תוצאות`,
      jobs: 'נתב נמל',
      cookies: ['אנחנו ו-842 השותפים שלנו משתמשים בקובצי Cookie כדי לאחסן מידע במכשיר שלך.', 'אישור הכל', 'דחייה'],
      robot: ['רק רגע…', 'נא לאמת שאתם בני אדם.'],
      oops: ['משהו השתבש', 'מצטערים, אירעה שגיאה. נסו שוב מאוחר יותר.'],
      about: 'מנורת הנמל עשויה פליז מלא וזכוכית. היא עמידה במי מלח, בסערות ובכפור, ומאירה באור חם במשך ארבעים שעות.',
    },
  },
  {
    lang: 'hi-IN',
    currency: 'INR',
    unit: 80,
    decimals: 0,
    write: writer('₹', '', { ...comma, decimals: 0, isIndian: true, digits: HI_DIGITS }),
    sign: { text: '₹', isLast: false },
    separators: comma,
    digits: HI_DIGITS,
    words: {
      inStock: 'स्टॉक में है',
      outOfStock: 'स्टॉक में नहीं है',
      add: 'कार्ट में जोड़ें',
      was: 'एम.आर.पी.',
      now: 'अभी',
      from: 'शुरुआती कीमत',
      instalments: (amount) => `ईएमआई ${amount} प्रति माह से शुरू`,
      save: 'बचत',
      shipping: (amount) => `डिलीवरी शुल्क ${amount}`,
      tax: 'सभी करों सहित',
      perKilo: (amount) => `${amount} / किग्रा`,
      lowest: (amount) => `पिछले ३० दिनों की सबसे कम कीमत: ${amount}`,
      results: (count) => `${count} परिणाम`,
      jobs: 'बंदरगाह पायलट',
      cookies: [
        'हम और हमारे ८४२ साझेदार आपके डिवाइस पर जानकारी रखने के लिए कुकीज़ का उपयोग करते हैं।',
        'सभी स्वीकार करें',
        'अस्वीकार करें',
      ],
      robot: ['एक क्षण…', 'पुष्टि करें कि आप इंसान हैं।'],
      oops: ['कुछ गलत हो गया', 'क्षमा करें, एक त्रुटि हुई। कृपया बाद में पुनः प्रयास करें।'],
      about:
        'बंदरगाह का दीपक ठोस पीतल और काँच से बना है। यह खारे पानी, तूफान और पाले को सहता है, और चालीस घंटे तक गर्म रोशनी देता है।',
    },
  },
  {
    lang: 'fa-IR',
    currency: null,
    rightToLeft: true,
    unit: 50_000,
    decimals: 0,
    write: writer('', ' تومان', { group: '٬', decimal: '٫', decimals: 0, digits: FA_DIGITS }),
    sign: { text: 'تومان', isLast: true },
    separators: { group: '٬', decimal: '٫' },
    digits: FA_DIGITS,
    words: {
      inStock: 'موجود در انبار',
      outOfStock: 'ناموجود',
      add: 'افزودن به سبد خرید',
      was: 'قیمت قبلی',
      now: 'قیمت ویژه',
      from: 'از',
      instalments: (amount) => `یا ۴ قسط ماهانه ${amount} بدون کارمزد`,
      save: 'تخفیف',
      shipping: (amount) => `هزینه ارسال ${amount}`,
      tax: 'با احتساب مالیات',
      perKilo: (amount) => `هر کیلوگرم ${amount}`,
      lowest: (amount) => `کمترین قیمت در ۳۰ روز گذشته: ${amount}`,
      results: (count) => `${count} کالا`,
      jobs: 'راهنمای بندر',
      cookies: ['ما و ۸۴۲ شریک ما از کوکی‌ها برای ذخیره اطلاعات در دستگاه شما استفاده می‌کنیم.', 'پذیرش همه', 'رد کردن'],
      robot: ['یک لحظه…', 'تأیید کنید که انسان هستید.'],
      oops: ['خطایی رخ داد', 'متأسفیم، خطایی رخ داده است. لطفاً بعداً دوباره تلاش کنید.'],
      about:
        'چراغ بندر از برنج خالص و شیشه ساخته شده است. در برابر آب شور، طوفان و یخبندان مقاوم است و چهل ساعت نور گرم می‌دهد.',
    },
  },
];

/** Returns the same shop in another language: English, or German for English shops. Its currency stays. */
export function translated(locale: Locale): Locale {
  const isEnglish = locale.lang.startsWith('en');
  const symbol = isEnglish ? locale.sign.text : (locale.currency ?? 'Toman');
  const form = isEnglish ? point : comma;
  const { decimals } = locale;
  const { digits: _digits, rightToLeft: _rightToLeft, ...rest } = locale;
  return {
    ...rest,
    lang: isEnglish ? 'de' : 'en',
    separators: form,
    sign: { text: symbol, isLast: isEnglish },
    words: isEnglish ? LATIN_DE : EN,
    write: isEnglish
      ? writer('', `${NBSP}${symbol}`, { ...form, decimals })
      : writer(`${symbol}${NBSP}`, '', { ...form, decimals }),
  };
}
