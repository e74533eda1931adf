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
