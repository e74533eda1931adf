/** Ports of the machine that a page must never reach. */
export interface GuardedPorts {
  readonly tcp: number;
  readonly udp: number;
}

/** All ways for a page to reach this machine, and those that need a person's permission. */
export const hostilePage = ({ tcp, udp }: GuardedPorts): string => `<!doctype html><title>Hostile</title>
<h1 id="state">Working</h1><p id="answers"></p>
<link rel="preconnect" href="http://127.0.0.1:${tcp}"><link rel="dns-prefetch" href="//internal.octo.dev">
<link rel="prefetch" href="http://localhost:${tcp}/prefetch"><link rel="prerender" href="http://localhost:${tcp}/prerender">
<script type="speculationrules">{"prerender":[{"urls":["http://127.0.0.1:${tcp}/speculation"]}]}</script>
<iframe src="file:///etc/passwd"></iframe><iframe src="/away"></iframe><img src="/away-secure"><img src="/away-far">
<link rel="preload" as="font" crossorigin href="https://localhost:${tcp}/font"><link rel="modulepreload" href="http://127.0.0.1:${tcp}/module.js">
<link rel="icon" href="http://127.0.0.1:${tcp}/icon"><link rel="manifest" href="https://localhost:${tcp}/manifest">
<script type="speculationrules">{"prefetch":[{"urls":["http://localhost:${tcp}/speculation"],"eagerness":"immediate","requires":["anonymous-client-ip-when-cross-origin"]}]}</script>
<style>@import "http://127.0.0.1:${tcp}/style"; @font-face { font-family: a; src: url(https://localhost:${tcp}/face) } i { font-family: a; cursor: url(http://127.0.0.1:${tcp}/cursor), auto; background: url(http://[::1]:${tcp}/background) }</style><i>i</i>
<iframe src="view-source:http://127.0.0.1:${tcp}/source"></iframe><iframe src="ftp://127.0.0.1:${tcp}/ftp"></iframe><iframe src="chrome://version"></iframe>
<iframe srcdoc="<meta http-equiv=refresh content='0;url=http://127.0.0.1:${tcp}/refresh'>"></iframe>
<iframe src="data:text/html,<script>fetch('http://127.0.0.1:${tcp}/data');new WebSocket('ws://127.0.0.1:${tcp}/data')</script>"></iframe>
<object data="http://localhost:${tcp}/object"></object><embed src="http://localhost:${tcp}/embed"><video src="http://127.0.0.1:${tcp}/video" autoplay></video>
<svg><image href="http://127.0.0.1:${tcp}/svg" width="9" height="9"/><use href="http://127.0.0.1:${tcp}/use#a"/></svg>
<a id="ping" ping="http://127.0.0.1:${tcp}/ping https://localhost:${tcp}/ping" href="#here">ping</a>
<form id="form" method="post" action="http://127.0.0.1:${tcp}/form" target="inner"></form><iframe name="inner"></iframe>
<a id="file" download="a.bin" href="data:application/octet-stream,abc">file</a>
<script>
const hosts = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]',
  'internal.octo.dev', 'rebinding.octo.dev', 'localtest.me', 'a.localhost', 'localhost.', '127.0.0.1.', '127.1', '0177.0.0.1', '0',
  '[::]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '127.0.0.1.nip.io', '%31%32%37.0.0.1', '１２７.0.0.1', 'ⓛocalhost', 'host.docker.internal'].map((host) => host + ':${tcp}');
hosts.push('169.254.169.254', 'metadata.google.internal');
const tryAll = (work) => hosts.forEach((host) => { try { Promise.resolve(work(host)).catch(() => {}) } catch {} });
const tryFew = (work) => hosts.filter((host) => /^(127.0.0.1|localhost|internal|rebinding|\\[::1|169)/.test(host)).forEach((host) => { try { Promise.resolve(work(host)).catch(() => {}) } catch {} });
tryAll((host) => fetch('http://' + host + '/fetch', { mode: 'no-cors' }));
tryAll((host) => fetch('https://' + host + '/fetch', { mode: 'no-cors' }));
tryFew((host) => { new Image().src = 'http://' + host + '/image' });
tryFew((host) => { new WebSocket('ws://' + host + '/socket') });
tryFew((host) => { new WebSocket('wss://' + host + '/socket') });
tryFew((host) => { new EventSource('https://' + host + '/events') });
tryFew((host) => { new WebTransport('https://' + host.replace('${tcp}', '${udp}') + '/transport').closed.catch(() => {}) });
tryFew((host) => navigator.sendBeacon('https://' + host + '/beacon', 'x'));
tryFew((host) => { open('http://' + host + '/window') });
tryFew((host) => { const frame = document.createElement('iframe'); frame.src = 'http://' + host + '/frame'; document.body.append(frame) });
tryFew((host) => import('http://' + host + '/import'));
tryFew((host) => { new WebSocketStream('ws://' + host + '/stream').opened.catch(() => {}) });
tryFew((host) => fetch('https://' + host + '/later', { keepalive: true, mode: 'no-cors', targetAddressSpace: 'loopback' }));
const local = 'http://127.0.0.1:${tcp}/', blob = (text, type) => URL.createObjectURL(new Blob([text], { type }));
const frame = document.createElement('iframe');
frame.src = blob('<script>fetch("' + local + 'blob", { mode: "no-cors" }).catch(() => {})</scr' + 'ipt>', 'text/html');
document.body.append(frame);
for (const work of [
  () => new Worker(blob('importScripts("' + local + 'script")')),
  () => new SharedWorker(blob('fetch("' + local + 'shared", { mode: "no-cors" })')),
  () => new AudioContext().audioWorklet.addModule(local + 'worklet'),
  () => CSS.paintWorklet.addModule(local + 'worklet'),
  () => new PaymentRequest([{ supportedMethods: 'https://localhost:${tcp}/pay' }], { total: { label: 'a', amount: { currency: 'EUR', value: '1' } } }).canMakePayment(),
  () => navigator.credentials.get({ identity: { providers: [{ configURL: 'https://localhost:${tcp}/identity', clientId: 'a' }] } }),
  () => navigator.credentials.get({ publicKey: { challenge: new Uint8Array(9), rpId: 'localhost' } }),
  () => document.getElementById('ping').click(),
  () => navigator.registerProtocolHandler('web+a', '/?%s'),
  () => new TCPSocket('127.0.0.1', ${tcp}),
  () => new RTCPeerConnection({ iceServers: [{ urls: 'stun:[::1]:${udp}' }], iceCandidatePoolSize: 4 }),
  () => new Function('throw new Error("report")')(),
]) { try { Promise.resolve(work()).catch(() => {}) } catch {} }
const source = 'onmessage = ({ data }) => data.forEach((host) => fetch("https://" + host + "/worker").catch(() => {}))';
const url = URL.createObjectURL(new Blob([source]));
for (let i = 0; i < 16; i++) new Worker(url).postMessage(hosts.slice(0, 3));
const ice = ['stun:127.0.0.1:${udp}', 'stun:localhost:${udp}', 'stun:internal.octo.dev:${udp}'].map((urls) => ({ urls }));
ice.push({ urls: 'turn:127.0.0.1:${tcp}?transport=tcp', username: 'a', credential: 'b' });
ice.push({ urls: 'turns:localhost:${tcp}?transport=tcp', username: 'a', credential: 'b' });
const peer = new RTCPeerConnection({ iceServers: ice });
const candidates = [];
peer.onicecandidate = ({ candidate }) => candidate && candidates.push(candidate.candidate);
peer.createDataChannel('x');
peer.createOffer().then((offer) => peer.setLocalDescription(offer));
document.getElementById('form').submit();
document.getElementById('file').click();
fetch('file:///etc/passwd').catch(() => {});
const ask = async (name, work) => {
  const answer = await Promise.resolve().then(work).catch((error) => error.name);
  document.getElementById('answers').append(name + '=' + answer + ' ');
};
(async () => {
  await navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).catch(() => {});
  fetch('/by-worker').catch(() => {});
  await ask('notification', () => Notification.requestPermission());
  await ask('location', () => new Promise((done) => navigator.geolocation.getCurrentPosition(() => done('granted'), () => done('denied'))));
  await ask('camera', () => navigator.mediaDevices.getUserMedia({ video: true }).then(() => 'granted', () => 'denied'));
  await new Promise((done) => setTimeout(done, 1000));
  document.getElementById('answers').append('addresses=' + candidates.length);
  document.getElementById('state').textContent = 'Everything was tried';
})();
</script>`;

/** The page's service worker. */
export const hostileWorker = ({ tcp }: GuardedPorts): string => `
for (const host of ['127.0.0.1:${tcp}', 'localhost:${tcp}', 'internal.octo.dev:${tcp}']) {
  fetch('http://' + host + '/service', { mode: 'no-cors' }).catch(() => {});
  fetch('https://' + host + '/service', { mode: 'no-cors' }).catch(() => {});
}
try { importScripts('http://127.0.0.1:${tcp}/service-script'); } catch {}
addEventListener('fetch', (event) => { if (event.request.url.endsWith('/by-worker')) event.respondWith(fetch('http://127.0.0.1:${tcp}/responded', { mode: 'no-cors' })); });
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));`;

/** Headers that send reports, connections and other requests to this machine. */
export const hostileHeaders = ({ tcp, udp }: GuardedPorts): Readonly<Record<string, string>> => ({
  link: `<http://127.0.0.1:${tcp}/link>; rel=preconnect, <http://localhost:${tcp}/link>; rel=preload; as=script`,
  'content-security-policy-report-only': `script-src 'none'; report-uri http://127.0.0.1:${tcp}/csp https://localhost:${tcp}/csp; report-to local`,
  'reporting-endpoints': `local="https://localhost:${tcp}/report", default="https://localhost:${tcp}/report"`,
  'report-to': `{"group":"local","max_age":999,"endpoints":[{"url":"https://localhost:${tcp}/report"}]}`,
  nel: '{"report_to":"local","max_age":999,"success_fraction":1.0,"failure_fraction":1.0}',
  'alt-svc': `h2="127.0.0.1:${tcp}"; ma=999, h3="127.0.0.1:${udp}"; ma=999`,
  'speculation-rules': '"/rules.json"',
});
