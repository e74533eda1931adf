import { showInvisible } from '../plain-text.ts';

/** A text of a page as one plain line: without control characters, invisible characters made visible, bounded. */
export function toPlainLine(text: string, most = 300): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const line = text.slice(0, most * 4).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/g, ' ');
  const plain = showInvisible(line.trim()).toWellFormed();
  return plain.length <= most ? plain : `${plain.slice(0, most - 1).toWellFormed()}…`;
}

/** Texts that only tell a person to wait, in the languages of most pages. */
const WAITING = [
  ...['loading', 'please wait', 'one moment', 'just a moment', 'initiali[sz]ing', 'starting', 'connecting'],
  ...['wird geladen', 'l[aä]dt', 'laden', 'bitte warten', 'chargement', 'patientez', 'veuillez patienter'],
  ...['cargando', 'carregando', 'aguarde', 'caricamento', 'attendere', 'espere', 'ładowanie', 'yükleniyor'],
  ...['загрузка', 'идёт загрузка', 'идет загрузка', 'подождите', 'пожалуйста,? подождите', 'завантаження'],
  ...[
    '読み込み中',
    '読込中',
    'ロード中',
    '加载中',
    '正在加载',
    '載入中',
    '請稍候',
    '请稍候',
    '로딩 ?중?',
    '불러오는 중',
  ],
];

const ONLY_WAITING = new RegExp(
  `^(?:(?:${WAITING.join('|')})(?: (?:the )?(?:app|application|page|data|content|report|résultats?))?[\\s.…!。·:,0-9%]*)+$`,
  'iu',
);

/** Whether all the text of a page only tells that something is still to come. */
export const isOnlyWaiting = (text: string): boolean =>
  text.length <= 80 && ONLY_WAITING.test(text.replace(/\s+/g, ' ').trim());

/** What browsers and frameworks show in place of a page that failed, with more text of any length. */
const ERROR_SCREENS =
  /^(This page contains the following errors:|Application error: a (client|server)-side exception has occurred|Unexpected Application Error!)/;

/** What browsers show of a picture or a page that is not marked as one: its source. */
const SOURCE_SCREEN = /^This XML file does not appear to have any style information/;

/** Whether the text is that of an error screen, and not of a page that talks about one. @param isMarkup of a kind that is drawn, such as SVG */
export function isErrorScreen(text: string, isMarkup: boolean): boolean {
  const line = text.replace(/\s+/g, ' ').trim();
  return (text.length <= 2_000 && ERROR_SCREENS.test(line)) || (isMarkup && SOURCE_SCREEN.test(line));
}
