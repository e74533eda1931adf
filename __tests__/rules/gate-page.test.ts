import { describe, expect, test } from '@jest/globals';
import { decodePage, findGateSign, isSignInAddress } from '../../src/rules/gate-page.ts';
import { measureCpuTime } from './cpu-time.ts';

const MARKER = 'marker-42';
const page = (title: string, body = ''): string => `<title>${title}</title><p>${MARKER}</p>${body}`;

describe('a page in place of the content', () => {
  test.each([
    ...['Anmelden – Octo', 'Connexion', 'Se connecter | Octo', 'Iniciar sesión', 'Zaloguj się', 'Увійти'],
    ...[
      '登录 - Octo',
      '请登录',
      'ログイン',
      '로그인',
      'Вход',
      'Авторизация',
      'Доступ ограничен',
      'Ссылка устарела',
    ],
    ...[
      'Access to this page has been denied',
      'Vercel Security Checkpoint',
      'Robot Check',
      'Human Verification',
    ],
    ...['Making sure you&#39;re not a bot!', 'Pardon Our Interruption', 'One moment, please...'],
    ...['Please wait while we verify your browser', 'Redirect Notice', 'LinkedIn | External link'],
    ...['Application Error', 'This page can’t be found', 'This file is no longer available'],
    ...['Требуется вход', 'This share was deleted', 'This document has been removed', 'Link revoked'],
    ...['Search results for “build”', 'No results found', 'No results for build'],
    ...['This content is private', 'Seite nicht gefunden', 'Service waking up', 'Error 1033'],
  ])('is recognized by its title: %s', (title) => {
    expect(findGateSign(page(title))).not.toBeNull();
    expect(findGateSign(page('Octo', `<h1>${title}</h1>`))).not.toBeNull();
  });

  test.each([
    '<iframe src="/_Incapsula_Resource?x=1"></iframe>',
    '<script src="https://ct.captcha-delivery.com/c.js"></script>',
    '<button>Ask to join</button>',
    '<a href="https://octo.dev/x">Continue to https://octo.dev/x</a>',
    '<script>window.location.href = "/login"</script>',
    "<script>location.replace('/login')</script>",
    "<script>'use strict'; setTimeout(function () { window.location = '/x' }, 100)</script>",
    '<script>(() => { top.location.assign("/x") })()</script>',
    '<script>document.cookie = "open=1"; location.reload()</script>',
    '<body onload="document.forms[0].submit()"><form method="post" action="/saml">',
    '<body onload="location.href=\'/x\'">',
  ])('is recognized by what it does: %s', (markup) => {
    expect(findGateSign(page('Octo', markup))).not.toBeNull();
  });

  test.each([
    'This link has expired.',
    'The shared file has expired',
    'Your deployment is being built. Please wait…',
    'This space is currently paused',
    'Your account has been suspended.',
    'This file is too large for us to scan for viruses.',
    'This domain may be for sale.',
    'Sorry, this is not available in your country',
    'Are you over 18?',
    'Enter the password to view it.',
    'Please log in to continue',
    'Sign up or log in to Octo to continue.',
    'You need to sign in or sign up before continuing.',
    'You need access. Ask for access, or switch to an account with access.',
    "You don't have permission to see this.",
    "Sorry, you can't view or download this file at this time.",
    "To verify your identity, we'll send a code to your email.",
    'Sorry, this transfer has expired.',
    'This workspace is not running.',
    'Your search did not match any documents.',
    'Subscribe to read the full article.',
    'The domain octo.dev is available for purchase.',
    'Diese Vorschau ist abgelaufen.',
    'Ce lien a expiré.',
    'Срок действия ссылки истёк.',
    'Ссылка больше не действует',
    '链接已过期',
  ])('is recognized by what a short page says, whatever its heading is: %s', (text) => {
    expect(findGateSign(page(MARKER, `<h1>${MARKER}</h1><p>${text}</p>`))).not.toBeNull();
    const long = `<p>${'A report of many words. '.repeat(200)}</p>`;
    expect(findGateSign(page(MARKER, `<h1>${MARKER}</h1>${long}<p>${text}</p>`))).toBeNull();
  });

  test.each(['404: x not found', 'Not Found', 'Error 403', 'HTTP 502 Bad Gateway', 'Access denied'])(
    'is recognized in a short text without markup: %s',
    (text) => {
      expect(findGateSign(`${text} ${MARKER}`)).not.toBeNull();
      expect(findGateSign(`${MARKER}: ${text}`)).toBeNull();
      expect(findGateSign(`${text} ${MARKER} ${'of many lines '.repeat(30)}`)).toBeNull();
    },
  );

  test.each([
    'The session of May 5 was long.',
    'This page is built by a workflow.',
    'Tests of the login page: the account is created, the link is shown.',
    '4 of 500 tests failed',
    'No file was scanned for viruses.',
    'If you need access to the staging cluster, ask Ann.',
    "Fixed: the viewer can't open this file on Windows.",
    'If your workspace is not running, start it with one click.',
    'Subscribe to read more every week.',
    'A test for the text "You do not have permission" passed.',
    'Users who need access are listed below.',
    'The job is not running on this branch. Error 1033 is explained there.',
  ])('is not seen where a short page of content says: %s', (text) => {
    expect(findGateSign(page(MARKER, `<h1>${MARKER}</h1><p>${text}</p>`))).toBeNull();
    expect(findGateSign(`${text} ${MARKER}`)).toBeNull();
  });

  test.each([
    { message: `${MARKER} not found`, documentation_url: 'https://docs.octo.dev' },
    { ok: false, title: MARKER },
    { success: false, title: MARKER },
    { title: MARKER, status: 'error' },
    { title: MARKER, statusCode: 404 },
    { title: MARKER, status: '403' },
    { data: null, title: MARKER, error: { code: 1 } },
    { detail: `Sign in to see ${MARKER}` },
    { err: 'no such share', title: MARKER },
    { result: 'error', title: MARKER },
    { code: 40003, msg: `no permission for ${MARKER}` },
  ])('is recognized in data: %j', (data) => {
    expect(findGateSign(JSON.stringify(data))).not.toBeNull();
  });

  test('is recognized in the XML of a storage', () => {
    const xml = `<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code>${MARKER}</Error>`;
    expect(findGateSign(xml)).not.toBeNull();
  });

  test.each([
    page('Test report', '<a href="/login">Log in</a><button>Continue to step 2</button>'),
    page('Error report of June', '<h1>Errors by module</h1>'),
    page('How to sign in'),
    page('Results for June'),
    page('How deleted files are restored'),
    page('Why there were no results in June'),
    page('Certificates that expire'),
    page('App', '<script>const next = "/x"; function go() { location.href = next }</script>'),
    page('App', '<script>if (location.hash === "#a") show()</script>'),
    page('App', '<script>location.hash = "#top"</script>'),
    page('Connexions of the network'),
    JSON.stringify({ status: 'ok', error: null, code: 200, items: [MARKER] }),
    JSON.stringify({ suite: MARKER, result: 'failed', failures: 2 }),
    JSON.stringify({ code: 4711, name: MARKER, price: 3 }),
    JSON.stringify({ status: 40_000, city: MARKER }),
    JSON.stringify({ err: null, result: 'passed', code: 0, items: [MARKER] }),
    JSON.stringify({ detail: MARKER, title: 'Report' }),
    JSON.stringify([{ error: MARKER }]),
    `Error: ${MARKER}`,
  ])('is not seen in ordinary content: %s', (text) => {
    expect(findGateSign(text)).toBeNull();
  });

  const LONG = 'a{color:red}'.repeat(7_000);
  test.each([
    `<style>${LONG}</style>${page('Sign in')}`,
    `<title>Octo</title><script>${LONG}</script><svg>${LONG}</svg><form><input type="password"></form>`,
  ])('is recognized behind much style and script', (text) => {
    expect(findGateSign(text)).not.toBeNull();
  });

  test.each([
    `<style>${LONG}</style>${page('Report', '<a href="/login">Log in</a>')}`,
    `<style>${LONG}</style>${page('Report')}<p>${'many words '.repeat(7_000)}</p><input type="password">`,
  ])('is not seen in content behind much style', (text) => {
    expect(findGateSign(text)).toBeNull();
  });

  test.each(['<style>', '<svg><style>', '<script></script>', '<h1>', '<a '])(
    'of a longer text of many %s is judged fast',
    (start) => {
      const text = start.repeat(262_144 / start.length);
      expect(measureCpuTime(() => findGateSign(text))).toBeLessThan(1_000);
    },
  );

  test.each(['<script>', '<script>{', '<body onload=', '<form ', '{"error'])(
    'of many %s is judged fast',
    (start) => {
      const text = start.repeat(65_536 / start.length);
      expect(measureCpuTime(() => findGateSign(text))).toBeLessThan(1_000);
    },
  );
});

describe('decodePage', () => {
  test.each([
    ['utf-8', ''],
    ['windows-1251', '<meta charset="windows-1251">'],
    ['koi8-r', '<meta http-equiv="content-type" content="text/html; charset=koi8-r">'],
  ])('reads a page in %s', (encoding, declaration) => {
    const letters = new Map(
      Array.from({ length: 128 }, (_, at) => [
        new TextDecoder(encoding).decode(Buffer.of(at + 128)),
        at + 128,
      ]),
    );
    const title =
      encoding === 'utf-8'
        ? Buffer.from('Вход').toString('latin1')
        : Array.from('Вход', (letter) => String.fromCharCode(letters.get(letter) ?? 0)).join('');
    expect(findGateSign(decodePage(`${declaration}<title>${title}</title>`))).toBe('Вход');
  });

  test('reads a page that declares an encoding that does not exist', () => {
    expect(decodePage('<meta charset=none><p>a')).toContain('<p>a');
  });
});

describe('isSignInAddress', () => {
  const start = new URL('https://app.octo.dev/share/42');

  test.each([
    ...['/api/auth/signin', '/realms/octo/protocol/openid-connect/auth?client_id=1', '/.auth/login/aad'],
    ...['/wp-login.php', '/login.php', '/Login.aspx', '/account/logon.aspx', '/en/login', '/pt-br/login'],
    ...['/admin/login/', '/_layouts/15/Authenticate.aspx', '/member/login', '/authorize?client_id=1'],
    ...['https://octo.okta.com/app/x', 'https://octo.eu.auth0.com/x', 'https://octo.b2clogin.com/x'],
    ...['https://octo.cloudflareaccess.com/x', 'https://sts.octo.net/x', 'https://passport.octo.ru/x'],
    'https://octo.auth.eu-west-1.amazoncognito.com/x',
  ])('is true of %s', (address) => {
    expect(isSignInAddress(new URL(address, start), start)).toBe(true);
  });

  test.each([
    '/docs/login',
    '/share/42/login',
    '/octo/login',
    '/docs/how-to-login',
    '/login-form',
    '/api/reports',
  ])('is false of %s', (address) => {
    expect(isSignInAddress(new URL(address, start), start)).toBe(false);
  });
});
