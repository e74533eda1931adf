/**
 * Pages that hosts show in place of the content: to sign in, to ask for access, to warn, to check for robots,
 * or to say that something failed. They may repeat the title of what they hide, and so its marker.
 */

const SIGN_IN_WORD =
  /^(log-?in|log-?on|sign-?in|sign-?on|sso|saml2?|oauth2?|openid|service-?login|authenticate)$/;

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

/** What the titles of such pages say. */
const TITLES = [
  /^\W*(please )?(sign|log)[ -]?(in|on)\b|[-–—|·:]\s*(sign|log)[ -]?(in|on)\b|^\s*(вход|войдите|войти)(?!\p{L})/iu,
  /\baccess (is )?(denied|required|restricted)\b|\b(request|need|needs) (access|permission)\b/i,
  /\bpermission denied\b|\bunauthori[sz]ed\b|\bforbidden\b/i,
  /\bnot found\b|\bpage (was )?(removed|deleted|gone)\b|^\W*(error|http)?\W*[45]\d\d\b|\b(error|http) [45]\d\d\b/i,
  /^\W*(error|oops|warning|redirecting|please (read|wait))\b\W*$|\bsomething went wrong\b|^\W*please read\b/i,
  /\bjust a moment\b|\battention required\b|\bchecking your browser\b|\bcaptcha\b|\bsecurity check\b/i,
  /\b(verify|confirm)\b.{0,20}\bhuman\b|\bnot a robot\b|\bare you (sure|a (robot|human))\b|\byou are (being redirected|leaving)\b/i,
  /доступ (запрещ|закрыт|огранич)|страница не найдена|^\s*ошибка(?!\p{L})/iu,
  /\blink (has |is )?expired\b|\b(service|temporarily) unavailable\b|\bunder maintenance\b|\btoo many requests\b/i,
];

/**
 * Recognizes a page that is shown before the content.
 *
 * @param head the beginning of the body
 * @returns what kind of page it is, or `null`
 */
export function describeGatePage(head: string): string | null {
  if (/^\s*\{\s*"errors?"\s*:/i.test(head)) return 'an error of the host';
  // A comment, a script or a text area may quote anything.
  const markup = head
    .replace(/<!--[\s\S]*?-->/g, ' ')
    .replace(/<(script|style|textarea)\b[\s\S]*?(<\/\1\s*>|$)/gi, ' ');
  const isAsking = /<input\b[^>]*\btype\s*=\s*["']?password\b/i.test(markup);
  if (isAsking) return 'a page to sign in';
  if (/<meta\b[^>]*\bhttp-equiv\s*=\s*["']?refresh\b/i.test(markup)) return 'a page that leads elsewhere';
  const [, title = ''] = /<title\b[^>]*>([\s\S]{0,300}?)<\/title/i.exec(markup) ?? [];
  return TITLES.some((words) => words.test(title)) ? 'a page to sign in, a warning or an error' : null;
}
