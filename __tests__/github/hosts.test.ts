import { expect, test } from '@jest/globals';
import { defaultPagesUrl, defaultRawUrl, mayReceiveToken, serverUrlOf } from '../../src/github/hosts.ts';

test.each([
  ['https://github.com', 'Octo/Site', 'https://octo.github.io/Site/'],
  ['https://github.com', 'Octo/octo.GitHub.io', 'https://octo.github.io/'],
  ['https://acme.ghe.com', 'Octo/Site', 'https://pages.acme.ghe.com/Octo/Site/'],
  ['https://git.corp.io', 'Octo/Site', 'https://pages.git.corp.io/Octo/Site/'],
  ['https://git.corp.io', 'Octo/octo.git.corp.io', 'https://pages.git.corp.io/Octo/'],
  ['https://git.corp.io:8443', 'Octo/Site', 'https://pages.git.corp.io:8443/Octo/Site/'],
  ['https://10.1.2.3', 'Octo/Site', 'https://10.1.2.3/pages/Octo/Site/'],
])(
  'defaultPagesUrl returns for the instance %s and the repository %s the site %s',
  (server, fullName, address) => {
    const [owner = '', repo = ''] = fullName.split('/');
    expect(defaultPagesUrl(new URL(server), { owner, repo }).href).toBe(address);
  },
);

const SITE = 'https://reports.corp.io/';
test.each([
  ['https://github.com', SITE, 'https://raw.githubusercontent.com/octo/site/'],
  ['https://acme.ghe.com', 'https://pages.acme.ghe.com/octo/site/', 'https://raw.acme.ghe.com/octo/site/'],
  ['https://acme.ghe.com', SITE, 'https://raw.acme.ghe.com/octo/site/'],
  ['https://git.corp.io', 'https://pages.git.corp.io/octo/site/', 'https://raw.git.corp.io/octo/site/'],
  ['https://git.corp.io', 'https://git.corp.io/pages/octo/site/', 'https://git.corp.io/raw/octo/site/'],
  ['https://git.corp.io', SITE, 'https://git.corp.io/octo/site/raw/'],
])(
  'defaultRawUrl returns for the instance %s with a site at %s the raw files at %s',
  (server, site, address) => {
    const repository = { owner: 'octo', repo: 'site' };
    expect(defaultRawUrl(new URL(server), repository, new URL(site)).href).toBe(address);
  },
);

test.each([
  ['https://api.github.com', 'https://github.com/'],
  ['https://api.acme.ghe.com/', 'https://acme.ghe.com/'],
  ['https://git.corp.io/api/v3', 'https://git.corp.io/'],
  ['https://git.corp.io:8443/api/v3/', 'https://git.corp.io:8443/'],
  ['https://api.corp.io/api/v3', 'https://api.corp.io/'],
])('serverUrlOf returns for the API %s the web pages at %s', (api, server) => {
  expect(serverUrlOf(new URL(api)).href).toBe(server);
});

test.each([
  ['https://api.github.com', 'https://uploads.github.com/repos/o/r/releases/1/assets'],
  ['https://api.acme.ghe.com', 'https://uploads.acme.ghe.com/repos/o/r/releases/1/assets'],
  ['https://git.corp.io/api/v3', 'https://git.corp.io/api/uploads/repos/o/r/releases/1/assets'],
  ['https://git.corp.io/api/v3', 'https://uploads.git.corp.io/repos/o/r/releases/1/assets'],
  ['https://git.corp.io:8443/api/v3', 'https://git.corp.io:8443/api/uploads/'],
])('mayReceiveToken allows a token of the API %s at %s', (api, address) => {
  expect(mayReceiveToken(new URL(api), new URL(address))).toBe(true);
});

test.each([
  ['https://api.github.com', 'https://uploads.evil.example/', 'a foreign host'],
  ['https://api.github.com', 'https://uploads.github.com.evil.example/', 'an allowed host as its start'],
  ['https://api.github.com', 'http://uploads.github.com/', 'not https'],
  ['https://api.acme.ghe.com', 'https://uploads.other.ghe.com/', 'another subdomain'],
  ['https://git.corp.io/api/v3', 'https://pages.git.corp.io/octo/site/', 'the site of a user'],
  ['https://git.corp.io/api/v3', 'https://git.corp.io:8443/api/uploads/', 'another port'],
  ['https://api.corp.io/api/v3', 'https://corp.io/', 'the parent domain of an instance named api'],
])('mayReceiveToken refuses the token of the API %s at %s, %s', (api, address) => {
  expect(mayReceiveToken(new URL(api), new URL(address))).toBe(false);
});
