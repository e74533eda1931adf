import { describe, expect, test } from '@jest/globals';
import { defaultRawUrl, defaultSiteUrl, mayReceiveToken, serverUrlOf } from '../../src/github/hosts.ts';

describe('the usual site', () => {
  test.each([
    ['https://github.com', 'Octo/Site', 'https://octo.github.io/Site/'],
    ['https://github.com', 'Octo/octo.GitHub.io', 'https://octo.github.io/'],
    ['https://acme.ghe.com', 'Octo/Site', 'https://pages.acme.ghe.com/Octo/Site/'],
    ['https://git.corp.io', 'Octo/Site', 'https://pages.git.corp.io/Octo/Site/'],
    ['https://git.corp.io', 'Octo/octo.git.corp.io', 'https://pages.git.corp.io/Octo/'],
    ['https://git.corp.io:8443', 'Octo/Site', 'https://pages.git.corp.io:8443/Octo/Site/'],
    ['https://10.1.2.3', 'Octo/Site', 'https://10.1.2.3/pages/Octo/Site/'],
    ['https://evil-github.com', 'Octo/Site', 'https://pages.evil-github.com/Octo/Site/'],
  ])('on %s of %s is %s', (server, fullName, address) => {
    const [owner = '', repo = ''] = fullName.split('/');
    expect(defaultSiteUrl(new URL(server), { owner, repo }).href).toBe(address);
  });
});

describe('raw files', () => {
  const SITE = 'https://reports.corp.io/';
  test.each([
    ['https://github.com', SITE, 'https://raw.githubusercontent.com/octo/site/'],
    ['https://acme.ghe.com', 'https://pages.acme.ghe.com/octo/site/', 'https://raw.acme.ghe.com/octo/site/'],
    ['https://acme.ghe.com', SITE, 'https://raw.acme.ghe.com/octo/site/'],
    ['https://git.corp.io', 'https://pages.git.corp.io/octo/site/', 'https://raw.git.corp.io/octo/site/'],
    ['https://git.corp.io', 'https://git.corp.io/pages/octo/site/', 'https://git.corp.io/raw/octo/site/'],
    ['https://git.corp.io', SITE, 'https://git.corp.io/octo/site/raw/'],
    ['https://git.corp.io', undefined, 'https://git.corp.io/octo/site/raw/'],
  ])('on %s beside a site at %s lie below %s', (server, site, address) => {
    const base = site === undefined ? undefined : new URL(site);
    expect(defaultRawUrl(new URL(server), { owner: 'octo', repo: 'site' }, base).href).toBe(address);
  });
});

describe('the instance of an API', () => {
  test.each([
    ['https://api.github.com', 'https://github.com/'],
    ['https://api.acme.ghe.com/', 'https://acme.ghe.com/'],
    ['https://git.corp.io/api/v3', 'https://git.corp.io/'],
    ['https://git.corp.io:8443/api/v3/', 'https://git.corp.io:8443/'],
    ['https://api.corp.io/api/v3', 'https://api.corp.io/'],
  ])('%s is at %s', (api, server) => {
    expect(serverUrlOf(new URL(api)).href).toBe(server);
  });
});

describe('the token', () => {
  test.each([
    ['https://api.github.com', 'https://uploads.github.com/repos/o/r/releases/1/assets'],
    ['https://api.github.com', 'https://api.github.com/'],
    ['https://api.acme.ghe.com', 'https://uploads.acme.ghe.com/repos/o/r/releases/1/assets'],
    ['https://git.corp.io/api/v3', 'https://git.corp.io/api/uploads/repos/o/r/releases/1/assets'],
    ['https://git.corp.io/api/v3', 'https://uploads.git.corp.io/repos/o/r/releases/1/assets'],
    ['https://git.corp.io:8443/api/v3', 'https://git.corp.io:8443/api/uploads/'],
  ])('of %s may go to %s', (api, address) => {
    expect(mayReceiveToken(new URL(api), new URL(address))).toBe(true);
  });

  test.each([
    ['https://api.github.com', 'https://uploads.evil.example/', 'a foreign host'],
    ['https://api.github.com', 'https://uploads.github.com.evil.example/', 'one that begins alike'],
    ['https://api.github.com', 'https://evilgithub.com/', 'one that ends alike'],
    ['https://api.github.com', 'http://uploads.github.com/', 'no https'],
    ['https://api.acme.ghe.com', 'https://uploads.other.ghe.com/', 'a neighbour'],
    ['https://api.acme.ghe.com', 'https://uploads.ghe.com/', 'the neighbourhood'],
    ['https://git.corp.io/api/v3', 'https://uploads.corp.io/', 'the domain above'],
    ['https://git.corp.io/api/v3', 'https://pages.git.corp.io/octo/site/', 'what users publish'],
    ['https://git.corp.io/api/v3', 'https://git.corp.io:8443/api/uploads/', 'another port'],
    ['https://api.corp.io/api/v3', 'https://corp.io/', 'the domain above an instance named api'],
  ])('of %s never goes to %s, %s', (api, address) => {
    expect(mayReceiveToken(new URL(api), new URL(address))).toBe(false);
  });
});
