/**
 * Pages that hosts show in place of the content: to sign in, to ask for access, to warn, to check for robots,
 * or to say that something failed. They may repeat the title of what they hide, and so its marker.
 */

const SIGN_IN_WORD =
  /^(log-?in|log-?on|sign-?in|sign-?on|sso|sso-api|pf-sign-?in|saml2?|oauth2?|openid|service-?login|authenticate)$/;

/** Folders below which hosts keep their pages to sign in. */
const ACCOUNT_FOLDER = /^(accounts?|users?|u|auth|sessions?|identity|cas|adfs|id|cdn-cgi|realms)$/;

const SIGN_IN_HOST = /^(accounts?|login|signin|auth|sso|idp?|identity)[.-]/;

/** Query parameters that name the address to come back to. */
const RETURN_PARAMETER =
  /^(return|return_?(to|url|uri|path)|redirect|redirect_?(to|url|uri)|continue|next|dest(ination)?|target|back|from|ru|rd|r|goto|url|relaystate|samlrequest)$/;

/**
 * Whether an address is one to sign in at.
 *
 * @param start the address that led there; one that carries it along wants to come back to it
 */
export function isSignInAddress({ hostname, pathname, searchParams }: URL, start?: URL): boolean {
  const segments = pathname.toLowerCase().split('/').filter(Boolean);
  if (start === undefined) return isSignInPath(segments);
  const comesBack = [...searchParams].some(
    ([name, value]) => RETURN_PARAMETER.test(name.toLowerCase()) && namesAddress(value, start),
  );
  return isSignInPath(segments) || comesBack || (hostname !== start.hostname && SIGN_IN_HOST.test(hostname));
}

/** A folder of that name further down may be anybody's own. */
function isSignInPath(segments: readonly string[]): boolean {
  const words = segments.map((segment) => segment.replaceAll('_', '-'));
  const [first = ''] = words;
  if (SIGN_IN_WORD.test(first)) return true;
  return ACCOUNT_FOLDER.test(first) && words.some((word) => SIGN_IN_WORD.test(word));
}

function namesAddress(value: string, { href, pathname }: URL): boolean {
  const text = value.toLowerCase();
  return /^saml/.test(text) || text.startsWith('https://') || text.startsWith('/')
    ? text.includes(href.toLowerCase()) || (pathname.length > 1 && text.includes(pathname.toLowerCase()))
    : false;
}

/** What the titles and first headings of such pages say. */
const TITLES = [
  /^\W*(please )?(sign|log)[ -]?(in|on)\b|[-–—|·:]\s*(sign|log)[ -]?(in|on)\b|^\s*(вход|войдите|войти)(?!\p{L})/iu,
  /\baccess (is )?(denied|required|restricted)\b|\b(request|need|needs) (access|permission)\b/i,
  /\bpermission denied\b|\bunauthori[sz]ed\b|\bforbidden\b|\b(authentication|password|authorization) (is )?required\b/i,
  /\bnot found\b|\bpage (was )?(removed|deleted|gone)\b|^\W*(error|http)?\W*[45]\d\d\b|\b(error|http) [45]\d\d\b/i,
  /^\W*(error|oops|warning|caution|redirecting|please (read|wait)|(friendly )?reminder)\b\W*$|\bsomething went wrong\b|^\W*please read\b/i,
  /\bjust a moment\b|\battention required\b|\bchecking (your|the site|if the site)\b|\bcaptcha\b|\bsecurity (check|verification)\b/i,
  /\b(verify|confirm|verifying)\b.{0,20}\bhuman\b|\bnot a robot\b|\bare you (sure|a (robot|human))\b/i,
  /\byou('re| are) (being redirected|leaving)\b|\btunnel (website ahead|password)\b/i,
  /\b(virus scan|deceptive site|phishing) warning\b|\bcan't scan this file\b|\bsuspected (phishing|malware)\b/i,
  /доступ (запрещ|закрыт|огранич)|страница не найдена|^\s*ошибка(?!\p{L})|проверка безопасности/iu,
  /\blink (has |is )?expired\b|\b(service|temporarily) unavailable\b|\bunder maintenance\b|\btoo many requests\b/i,
  /\bbefore you continue\b|\bage (verification|confirmation)\b|\bcodespaces access port\b|\bauthenticating\b/i,
];

/** What a page before another one says anywhere; such pages are short. */
const ANNOUNCEMENT = /\byou('re| are) about to (visit|access|connect|open|leave|enter)\b/i;
const LONGEST_ANNOUNCEMENT = 3_000;

/** What leads on from such a page: a click is asked for before the content is shown. */
const BUTTONS =
  /^\W*(request (access|permission)|(continue|proceed) to( the| this)? (site|website|page|app)|continue anyway|proceed anyway|i understand,? continue|verify (that )?you are (a )?human|(sign|log)[ -]?in to (continue|view|access)\b.*)\W*$/i;

/** What only the scripts of such pages contain: of ngrok, localtunnel, Cloudflare, and developer tunnels. */
const SCRIPTS =
  /\bERR_NGROK_\d+|cdn\.ngrok\.com\/static\/js\/error|\b_cf_chl_opt\b|\bcf-(please-wait|challenge-running|chl-widget)|\bbypass-tunnel-reminder\b|\/pf-signin\b|\btunnels-prod-rel-/i;

/**
 * Recognizes a page that is shown before the content, or in its place.
 *
 * @param head the beginning of the body
 * @returns the words by which it is recognized, or `null`
 */
export function findGateSign(head: string): string | null {
  const [error] = /^\s*\{\s*"errors?"\s*:/i.exec(head) ?? [];
  if (error !== undefined) return error;
  const [script] = SCRIPTS.exec(head) ?? [];
  if (script !== undefined && /^\s*</.test(head)) return script;
  // A comment, a script or a text area may quote anything.
  const markup = head
    .replace(/<!--[\s\S]*?(-->|$)/g, ' ')
    .replace(/<(script|style|textarea)\b[\s\S]*?(<\/\1\s*>|$)/gi, ' ');
  const [form] =
    /<input\b[^<>]{0,1000}\btype\s{0,9}=\s{0,9}["']?password\b|<meta\b[^<>]{0,1000}\bhttp-equiv\s{0,9}=\s{0,9}["']?refresh\b/i.exec(
      markup,
    ) ?? [];
  return form ?? findSignInTexts(markup);
}

/** Of the headings only the first counts: it names the page. */
function findSignInTexts(markup: string): string | null {
  const titles = [readTexts(markup, 'title')[0] ?? '', readTexts(markup, 'h[1-6]')[0] ?? ''];
  const buttons = [...readTexts(markup, 'button'), ...readTexts(markup, 'a')];
  for (const title of titles) {
    for (const words of TITLES) {
      const [sign] = words.exec(title) ?? [];
      if (sign !== undefined) return sign;
    }
  }
  const text = toPlainText(markup);
  const [announcement] = (text.length < LONGEST_ANNOUNCEMENT && ANNOUNCEMENT.exec(text)) || [];
  return announcement ?? buttons.find((button) => BUTTONS.test(button)) ?? null;
}

/** The texts of all short elements of a kind. */
function readTexts(markup: string, element: string): string[] {
  const elements = new RegExp(`<(${element})\\b[^<>]{0,1000}>([\\s\\S]{0,300}?)</\\1\\s{0,9}>`, 'gi');
  return Array.from(markup.matchAll(elements), ([, , inner = '']) => toPlainText(inner));
}

const toPlainText = (markup: string): string =>
  markup
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&#0?39;|&rsquo;|&apos;|’|â\u0080\u0099/g, "'")
    .replace(/&nbsp;|\s+/g, ' ')
    .trim();
