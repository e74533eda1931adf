/** The words and the markup by which pages are recognized that are shown before the content, or in its place. */

/** What their titles and first headings say. */
export const TITLES: readonly RegExp[] = [
  /^\W*(please )?(sign|log)[ -]?(in|on)\b|[-–—|·:]\s*(sign|log)[ -]?(in|on)\b|^\s*(вход|войдите|войти)(?!\p{L})/iu,
  /^[^\p{L}\p{N}]*(anmelden|anmeldung|einloggen|se connecter|connexion|connectez-vous|inici(ar|a) sesi[oó]n|iniciar sess[aã]o|fazer login|accedi|inloggen|zaloguj|logowanie|logga in|giriş yap|přihlásit|увійти|авторизация|авторизуйтесь)(?!\p{L})/iu,
  /^[^\p{L}\p{N}]*请?(登录|登入|登錄|ログイン|サインイン|로그인)/u,
  /\baccess (is )?(denied|required|restricted)\b|\b(request|need|needs) (access|permission)\b/i,
  /\baccess to .{1,60}\b(denied|blocked|restricted)\b|\b(content|page|document|file|repository) is private\b/i,
  /\bpermission denied\b|\bunauthori[sz]ed\b|\bforbidden\b|\b(authentication|password|authorization) (is )?required\b/i,
  /\bnot found\b|\bpage (was )?(removed|deleted|gone)\b|^\W*(error|http)?\W*[45]\d\d\b|\b(error|http) [45]\d\d\b/i,
  /\bno longer (available|accessible|active|exists?)\b|\b(does not|doesn't) exist\b|\bcan('t|not| not) be (found|reached|displayed)\b/i,
  /\b(content|page|document|file|link|item) (is )?(not|currently) (available|unavailable|accessible)\b/i,
  /^\W*(error|oops|warning|caution|redirecting|please (read|wait)|(friendly )?reminder)\b\W*$|\bsomething went wrong\b|^\W*please (read|wait)\b/i,
  /\bjust a moment\b|\bone moment,? please\b|^\W*one more step\b|\battention required\b|\bpardon our interruption\b/i,
  /\bchecking (your|the site|if the site)\b|captcha\b|\bsecurity (check(point)?|verification)\b/i,
  /\b(verify|confirm|verifying)\b.{0,20}\bhuman\b|\bnot a (ro)?bot\b|\bare you (sure|a (robot|human))\b/i,
  /\b(robot|bot|human) (check|verification|detection)\b/i,
  /\byou('re| are) (now )?(being redirected|leaving)\b|\btunnel (website ahead|password)\b/i,
  /\bredirect(ion)? (notice|warning)\b|\bexternal link\b|\bproblem with the requested link\b/i,
  /\b(virus scan|deceptive site|phishing) warning\b|\bcan't scan this file\b|\bsuspected (phishing|malware)\b/i,
  /доступ (запрещ|закрыт|огранич)|нет доступа|(требуется|необходима?) (вход|авторизация|аутентификация)|запросить доступ/iu,
  /страница не найдена|^\s*ошибка(?!\p{L})|проверка безопасности|ссылка (устарела|недействительна)|не робот/iu,
  /\b(zugriff verweigert|seite nicht gefunden|acceso denegado)\b|acc[eè]s (refusé|interdit)|page introuvable/iu,
  /\b(link|page|session|preview|invitation) (has |is )?expired\b|\bapplication error\b|\btoo many requests\b/i,
  /\b(service|temporarily) unavailable\b|\bunder maintenance\b|\b(service|space|app|server) (is )?(waking up|starting|asleep|sleeping|paused)\b/i,
  /\b(link|page|file|document|share|preview|item|content) (has been |was |is )?(deleted|removed|revoked)\b/i,
  /^\W*error (code )?([45]\d\d|10[0-3]\d)\W*$/i,
  /^\W*search results for\b|\bno results( were)?( found)?( for\b|\W*$)/i,
  /\bbefore you continue\b|\bage (verification|confirmation)\b|\bcodespaces access port\b|\bauthenticating\b/i,
];

const THING =
  '(?:link|page|file|document|preview|session|share|invitation|site|website|space|workspace|app|application|project|deployment|account|transfer|video|recording)';

/** What a page before another one, or in its place, says anywhere; such pages are short. */
export const ANNOUNCEMENT = new RegExp(
  [
    /\byou('re| are) about to (visit|access|connect|open|leave|enter)\b/,
    new RegExp(
      `\\b(this|the|your) (shared? )?${THING} (has |is |was )?(now )?(expired|disabled|suspended|deactivated)\\b`,
    ),
    new RegExp(
      `(?<!\\b(?:if|when|while|until) )\\b(this|the|your) ${THING} is (currently |now |still )?(paused|sleeping|not running|being (built|deployed|prepared)|building|deploying|starting|waking up)\\b`,
    ),
    /\b(account|site|page) (has been |is )?suspended\b|\btoo large .{0,40}\bscan for viruses\b|\b(domain|name) (may be|is) for sale\b/,
    /\bnot available in your (country|region|location)\b|\bare you (over|at least|older than) \d\d\b/,
    /\b(enter|type) (the|a|your) (password|access code|passcode) to (view|see|access|open|continue)\b/,
    /\b(sign|log)[ -]?(in|up)( or (sign|log)[ -]?(in|up))?( to [\w. ]{1,30})? (to (view|see|access|open|continue)|before continuing)\b/,
    /(?<!\b(if|who|when|that) )\byou need access\b(?! to the\b)|\byou can('t|not) (view|open)( or download)? this (file|page|document)\b/,
    /(?<!\b(if|when|that) )\byou do(n't| not) have (access|permission) to (view|see|open|access)\b/,
    /\bsend (you )?an? [\w ]{0,20}code to (your|the) (e-?mail|phone)\b|\bsubscribe to (continue|unlock|(read|view) (this|the))\b/,
    /\bdid not match any (documents|results)\b|\b(this|the) domain .{0,60}\bavailable for purchase\b/,
    /\b(link|vorschau|seite|freigabe) ist (leider )?abgelaufen\b|\b(lien|partage) (a|est) expir/,
    /срок действия ссылки (ист|законч)|ссылка (больше )?не ?действ|链接已(过期|失效)|(文件|页面)(已被删除|已过期|不存在)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** How a short text that is no page begins, in place of the content. */
export const PLAIN_ERROR =
  /^\W*(error\W+)?(http\W+)?([45]\d\d\b|not found\b|forbidden\b|unauthori[sz]ed\b|access denied\b|bad gateway\b|internal server error\b|service unavailable\b)/i;
export const LONGEST_PLAIN_ERROR = 300;
export const LONGEST_ANNOUNCEMENT = 3_000;

/** What leads on from such a page: a click is asked for before the content is shown. */
export const BUTTONS =
  /^\W*(request (access|permission)|ask to join|(continue|proceed) to( the| this)? (site|website|page|app|link|url|destination)|(continue|proceed|go) to https?:.*|continue anyway|proceed anyway|i understand,? continue|i('m| am) not a robot|verify (that )?you are (a )?human|(sign|log)[ -]?in to (continue|view|access)\b.*)\W*$/i;

/** What only such pages load or contain: of tunnels, and of services that check for robots. */
export const SCRIPTS = new RegExp(
  [
    /\bERR_NGROK_\d+|cdn\.ngrok\.com\/static\/js\/error|\bbypass-tunnel-reminder\b|\/pf-signin\b|\btunnels-prod-rel-/,
    /\b_cf_chl_opt\b|\bcf-(please-wait|challenge-running|chl-widget)|\/_Incapsula_Resource\b|\bcaptcha-delivery\.com\b/,
    /\bpx-captcha\b|\banubis_challenge\b|\bwindow\.gokuProps\b|\bsucuri_cloudproxy_js\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

const FIELD = String.raw`\b[^<>]{0,1000}\b`;
const IS = String.raw`\s{0,9}=\s{0,9}["']?`;

/** A form to sign in, or a page that a browser leaves by itself. */
export const FORMS = new RegExp(
  [
    `<input${FIELD}type${IS}password\\b`,
    `<meta${FIELD}http-equiv${IS}refresh\\b`,
    `<body${FIELD}onload${IS}[^"'<>]{0,200}(?:\\.submit\\s{0,9}\\(|\\blocation\\b)`,
  ].join('|'),
  'i',
);

/** What may be before the first command of a script. */
const PREFIX = String.raw`(?:\s|['"]use strict['"];|\(?function\s{0,9}\(\)\s{0,9}\{|\(\(\)\s{0,9}=>\s{0,9}\{|\(?\(\)\s{0,9}=>\s{0,9}|setTimeout\(|window\.onload\s{0,9}=|\{|['"\x60]){0,20}`;

/** A script that begins with leaving the page, or with a cookie for the next request. */
export const LEADS_AWAY = new RegExp(
  `<script\\b[^<>]{0,500}>${PREFIX}(?:` +
    [
      String.raw`(?:(?:window|self|top|parent|document)\.){0,2}location\s{0,9}(?:\.href\s{0,9})?(?:=(?!=)|\.(?:replace|assign)\()`,
      String.raw`document\.cookie\s{0,9}=[^<]{0,500}\blocation\b`,
      String.raw`document\.forms\[\d\]\.submit\(`,
    ].join('|') +
    ')',
  'i',
);
