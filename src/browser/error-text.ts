import { showInvisible } from '../plain-text.ts';

/** The longest text that may be an error and nothing else, in characters; one with a trace of calls may be longer. */
const LONGEST = { text: 400, trace: 4_000 } as const;

const SOUGHT = " (?:that )?you(?: are|[’']re| were) looking for";

/** Errors of HTTP, in the words of hosts and frameworks. */
const HTTP_ERRORS = [
  ...[
    'not found',
    'bad gateway',
    'bad request',
    '(?:gateway|request) time-?out',
    'too many requests',
    '410 gone',
  ],
  ...['(?:internal )?server error', 'service (?:temporarily )?unavailable', 'unauthori[sz]ed', 'forbidden'],
  ...['access denied', 'permission denied', 'method not allowed', 'cannot (?:get|post|head) /\\S*'],
  `(?:(?:we|i) )?(?:can(?:no|[’'])t|could ?n[o’']t) find (?:what|(?:the|that|this) page)(?:${SOUGHT})?`,
  'no routes? matched(?: location)? \\S+',
  `(?:the |this |that )?(?:requested )?(?:page|file|url|resource|site|document)(?:${SOUGHT})?(?: /\\S*)? (?:was moved or )?(?:(?:was|is|are|could|can|does|has)(?: ?not|n[’']t|[’']t)? )?(?:be )?(?:not )?(?:be )?(?:found|exist|available|missing|loaded|displayed)(?: on this server)?(?:: /\\S*)?`,
  ...["that[’']s an error", "that[’']s all we know", "there isn[’']t a github pages site here"],
  ...['seite (?:wurde )?nicht gefunden', 'page (?:introuvable|non trouvée)', 'página no encontrada'],
  ...['página não encontrada', 'pagina non trovata', '(?:страница )?не найден[ао]', 'ページが見つかりません'],
  ...['页面不存在', '找不到(?:该)?页面', '頁面不存在', '페이지를 찾을 수 없습니다'],
];

/** Errors of programs. */
const PROGRAM_ERRORS = [
  '(?:(?:an?|unexpected|unknown|internal|fatal|network|script|runtime|application) )*(?:error|exception)s?(?: (?:has )?occurred)?',
  ...['something went wrong', 'invalid date', 'javascript is (?:required|disabled|not enabled)'],
  ...['(?:you need to |please )?enable javascript(?: to (?:run|use|view) this \\w+)?'],
  "(?:failed to|unable to|could ?n[o’']t|can(?:no|[’'])t) (?:load|fetch|connect|open|render|import)(?:[^.!?]|[.!?](?=\\S)){0,160}",
  ...['(?:es ist )?ein fehler(?: ist)? aufgetreten', "une erreur (?:est survenue|s[’']est produite)"],
  ...[
    '(?:ha ocurrido|ocorreu|si è verificato) un? err(?:or|o|ore)',
    '(?:произошла )?ошибка',
    'fehler',
    'erreur',
  ],
  ...['エラー(?:が発生しました)?', '发生(?:了)?错误', '發生(?:了)?錯誤', '오류가 발생했습니다'],
];

/** What a program shows where it has no value, or where nothing has filled in its template. */
const NO_VALUES = ['undefined', 'null', 'nan', '\\[object \\w+\\]', '\\{\\{[^{}]{0,80}\\}\\}'];

/** Says nothing by itself, and often comes with an error. */
const FILLERS = [
  ...['https?', 'status', 'code', 'oops', 'ooops', 'sorry', 'whoops', 'uh[ -]?oh', 'we are sorry', 'details'],
  ...[
    'nginx(?:/[\\d.]+)?',
    'apache(?:/[\\d.]+)?',
    'cloudflare',
    'openresty(?:/[\\d.]+)?',
    '\\((?:ubuntu|debian|centos|unix|win\\d+)\\)',
  ],
  ...['(?:please )?(?:try again|try reloading|reload|refresh|retry)(?: the page| this page)?(?: later)?'],
  ...['(?:(?:go|return|take me|back|to|the|home|homepage|start|main|page) ?){1,6}'],
  '(?:see|check) the (?:browser )?console(?: for (?:more )?(?:information|details))?',
];

/** A word of a text; what is written without spaces has no ends of words. */
const anyOf = (patterns: readonly string[], flags: string): RegExp =>
  new RegExp(`(?<![a-z\\d])(?:${patterns.join('|')})(?![a-z\\d])`, flags);

const ERRORS = anyOf([...HTTP_ERRORS, ...PROGRAM_ERRORS, ...NO_VALUES], 'giu');
const CODES = anyOf(['40[0-9]|410|429|50[0-4]'], 'gu');
const FILLER = anyOf(FILLERS, 'giu');

const ERROR_NAME = '(?:uncaught )?(?:\\(in promise\\) )?(?:[A-Z]\\w*)?(?:Error|Exception)';

/** An exception as a runtime prints it, alone or with the calls that led to it. */
const EXCEPTIONS = [
  new RegExp(`^${ERROR_NAME}: (?=\\p{L})(?!.*[.!?] \\p{Lu}).{1,200}$`, 'iu'),
  new RegExp(`^${ERROR_NAME}: .{1,500}?(?: at .{1,300}?:\\d+(?::\\d+)?\\)?)+$`, 'iu'),
  /^Traceback \(most recent call last\): .*\w(?:Error|Exception|Exit|Interrupt)\b.{0,300}$/u,
  /^(?:Exception in thread .{1,80} )?(?:[a-z]\w*\.)+\w*(?:Exception|Error)\b.{0,300}?(?: at [\w.$<>/]+\([^)]*\))*$/u,
  /^(?:PHP )?(?:Fatal|Parse|Uncaught) error: .{1,500} on line \d+$/iu,
  /^panic: .{1,300}?(?: goroutine \d+ .*)?$/u,
];

/** What a title says that belongs to an error page; an empty one says nothing else. */
const ERROR_TITLE = /^$|error|found|[45]\d\d/i;

/**
 * Whether a text is an error and nothing else: each of its words belongs to one. A page that talks about errors has
 * more to say.
 *
 * @param title of the page: a lone number other than 404 is an error only where the title says nothing else
 */
export function isOnlyError(text: string, title: string): boolean {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= LONGEST.trace && EXCEPTIONS.some((pattern) => pattern.test(line))) return true;
  if (line.length > LONGEST.text) return false;
  const withoutErrors = line.replace(ERRORS, ' ');
  const withoutCodes = withoutErrors.replace(CODES, ' ');
  const rest = withoutCodes.replace(FILLER, ' ').replace(/[\p{P}\p{S}\s]+/gu, '');
  if (rest !== '') return false;
  if (withoutErrors !== line) return true;
  const [code] = line.match(CODES) ?? [];
  return code !== undefined && (code === '404' || ERROR_TITLE.test(title.trim()));
}

/** The longest text of a site's own page for what is missing, with its menu, in characters. */
const LONGEST_NOT_FOUND = 600;

/**
 * Whether a page is a site's own one for what is missing: its title and its heading say nothing else, whatever it says
 * to comfort its reader.
 */
export function isOwnNotFound(text: string, title: string, heading: string): boolean {
  const isNotFound = (line: string): boolean => /404|found|exist/i.test(line) && isOnlyError(line, '');
  return (
    text.length <= LONGEST_NOT_FOUND && isNotFound(heading) && title.split(/ [^\p{L}\d]+ /u).some(isNotFound)
  );
}

/** Whether a name is that of a page which shows an error on purpose, such as `404.html`. */
export const isErrorPageName = (pathname: string): boolean =>
  /\/(?:[45]\d\d|error|not-?found)(?:\.x?html?|\/|\/index\.x?html?)?$/i.test(pathname);

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
