import { parseJson, toFields } from '../json.ts';
import {
  ANNOUNCEMENT,
  BUTTONS,
  FORMS,
  LEADS_AWAY,
  LONGEST_ANNOUNCEMENT,
  LONGEST_PLAIN_ERROR,
  PLAIN_ERROR,
  SCRIPTS,
  TITLES,
} from './gate-words.ts';

/**
 * Pages that hosts show in place of the content: to sign in, to ask for access, to warn, to check for robots,
 * or to say that something failed. They may repeat the title of what they hide, and so its marker.
 */

const SIGN_IN_WORD =
  /^(log-?in|log-?on|sign-?in|sign-?on|sso|sso-api|pf-sign-?in|wp-login|saml2?|oauth2?|openid(-connect)?|service-?login|authenticate|authorize)(\.(php|aspx?|jsp|html?|do|action|cgi))?$/;

/** Folders below which hosts keep their pages to sign in; two letters are a language. */
const ACCOUNT_FOLDER =
  /^(accounts?|users?|members?|u|\.?auth|sessions?|identity|cas|adfs|id|cdn-cgi|realms|admin|api|app|portal|web|-layouts|[a-z]{2}(-[a-z]{2})?)$/;

const SIGN_IN_HOST = /^(accounts?|login|signin|auth|sso|sts|adfs|idp?|identity|passport)[.-]/;

/** Services that only sign people in. */
const SIGN_IN_SERVICE =
  /(^|\.)(okta|oktapreview|onelogin|auth0|cloudflareaccess|b2clogin|microsoftonline|duosecurity|workos|pingone|jumpcloud)\.[a-z]+$|\.amazoncognito\.com$/;

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
  return (
    isSignInPath(segments) ||
    comesBack ||
    (hostname !== start.hostname && (SIGN_IN_HOST.test(hostname) || SIGN_IN_SERVICE.test(hostname)))
  );
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

/** The beginning of a page as text, by the encoding that it declares. @param head its bytes as Latin-1 text */
export function decodePage(head: string): string {
  const [, label = 'utf-8'] =
    /<meta\b[^<>]{0,200}\bcharset\s{0,9}=\s{0,9}["']?([\w-]{1,40})/i.exec(head) ?? [];
  const bytes = Buffer.from(head, 'latin1');
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

/** Characters in which a page is recognized. */
const SEARCHED = 65_536;

/**
 * Recognizes a page that is shown before the content, or in its place. Of a long one its beginning is searched, and
 * the beginning of what is neither style nor script.
 *
 * @param text the beginning of the body
 * @returns the words by which it is recognized, or `null`
 */
export function findGateSign(text: string): string | null {
  const sign = findSign(text.slice(0, SEARCHED));
  if (sign !== null || text.length <= SEARCHED || !/^\s*</.test(text)) return sign;
  return findSign(leaveOutCode(text).slice(0, SEARCHED));
}

/** The text without what is long in many pages and shows no words. */
function leaveOutCode(text: string): string {
  let rest = '';
  let from = 0;
  for (const { index, 1: name = '' } of text.matchAll(/<(style|script|svg)\b/gi)) {
    if (index < from) continue;
    rest += text.slice(from, index);
    const end = new RegExp(`</${name}\\s*>`, 'gi');
    end.lastIndex = index;
    from = end.exec(text) === null ? text.length : end.lastIndex;
  }
  return rest + text.slice(from);
}

function findSign(text: string): string | null {
  const error = findDataError(text) ?? findPlainError(text);
  if (error !== null) return error;
  const [script] = SCRIPTS.exec(text) ?? [];
  if (script !== undefined && /^\s*</.test(text)) return script;
  // A comment or a text area may quote anything, and a script as well.
  const page = text.replace(/<!--[\s\S]*?(-->|$)/g, ' ').replace(/<(textarea)\b[\s\S]*?(<\/\1\s*>|$)/gi, ' ');
  const [leading] = LEADS_AWAY.exec(page) ?? [];
  if (leading !== undefined) return leading;
  const markup = page.replace(/<(script|style)\b[\s\S]*?(<\/\1\s*>|$)/gi, ' ');
  const [form] = FORMS.exec(markup) ?? [];
  return form ?? findSignInTexts(markup);
}

/** A short text without markup that says that there is nothing. */
function findPlainError(text: string): string | null {
  if (text.includes('<') || text.length > LONGEST_PLAIN_ERROR) return null;
  return PLAIN_ERROR.exec(text)?.[0] ?? null;
}

/** The error that data instead of a page reports: JSON or XML. */
function findDataError(text: string): string | null {
  const [xml] = /^\s*(?:<\?xml[^<>]{0,200}\?>\s*)?<Error>/.exec(text) ?? [];
  if (xml !== undefined) return xml;
  if (!/^\s*\{/.test(text)) return null;
  const [start] = /^\s*\{\s*"errors?"\s*:/i.exec(text) ?? [];
  return start ?? findErrorField(toFields(parseJson(text)));
}

/** A field by which APIs say that something failed. */
function findErrorField(data: Readonly<Record<string, unknown>>): string | null {
  const fields = Object.entries(data);
  // Some add digits of their own to the code of HTTP; then a message says what failed.
  const code = fields.some(([name]) => /^(msg|message)$/i.test(name)) ? /^[45]\d{2,4}$/ : /^[45]\d\d$/;
  const found = fields.find(([name, value]) => {
    if (/^(err|errors?)$/i.test(name)) return Boolean(value);
    if (/^(ok|success)$/i.test(name)) return value === false;
    if (/^(status|status_?code|code|err_?code)$/i.test(name))
      return code.test(String(value)) || /^(errors?|fail(ed|ure)?)$/i.test(String(value));
    if (/^result$/i.test(name)) return /^errors?$/i.test(String(value));
    return name === 'documentation_url' || (name === 'detail' && fields.length === 1);
  });
  return found === undefined ? null : `"${found[0]}":`;
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
    .replace(/&#0?39;|&rsquo;|&apos;|’/g, "'")
    .replace(/&nbsp;|\s+/g, ' ')
    .trim();
