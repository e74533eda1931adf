/** Ports of the machine that a page must never reach. */
export interface GuardedPorts {
  readonly tcp: number;
  readonly udp: number;
}

/** Every way that a page knows to this machine, and the ones that need a person's permission. */
export const hostilePage = ({ tcp, udp }: GuardedPorts): string => `<!doctype html><title>Hostile</title>
<h1 id="state">Working</h1><p id="answers"></p>
<link rel="preconnect" href="http://127.0.0.1:${tcp}"><link rel="dns-prefetch" href="//internal.octo.dev">
<link rel="prefetch" href="http://localhost:${tcp}/prefetch"><link rel="prerender" href="http://localhost:${tcp}/prerender">
<script type="speculationrules">{"prerender":[{"urls":["http://127.0.0.1:${tcp}/speculation"]}]}</script>
<iframe src="file:///etc/passwd"></iframe><iframe src="/away"></iframe><img src="/away-secure">
<form id="form" method="post" action="http://127.0.0.1:${tcp}/form" target="inner"></form><iframe name="inner"></iframe>
<a id="file" download="a.bin" href="data:application/octet-stream,abc">file</a>
<script>
const hosts = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]',
  'internal.octo.dev', 'rebinding.octo.dev', 'localtest.me', 'a.localhost'].map((host) => host + ':${tcp}');
hosts.push('169.254.169.254', 'metadata.google.internal');
const tryAll = (work) => hosts.forEach((host) => { try { Promise.resolve(work(host)).catch(() => {}) } catch {} });
tryAll((host) => fetch('http://' + host + '/fetch', { mode: 'no-cors' }));
tryAll((host) => fetch('https://' + host + '/fetch', { mode: 'no-cors' }));
tryAll((host) => { new Image().src = 'http://' + host + '/image' });
tryAll((host) => { new WebSocket('ws://' + host + '/socket') });
tryAll((host) => { new WebSocket('wss://' + host + '/socket') });
tryAll((host) => { new EventSource('https://' + host + '/events') });
tryAll((host) => { new WebTransport('https://' + host.replace('${tcp}', '${udp}') + '/transport').closed.catch(() => {}) });
tryAll((host) => navigator.sendBeacon('https://' + host + '/beacon', 'x'));
tryAll((host) => { open('http://' + host + '/window') });
tryAll((host) => { const frame = document.createElement('iframe'); frame.src = 'http://' + host + '/frame'; document.body.append(frame) });
const source = 'onmessage = ({ data }) => data.forEach((host) => fetch("https://" + host + "/worker").catch(() => {}))';
const url = URL.createObjectURL(new Blob([source]));
for (let i = 0; i < 16; i++) new Worker(url).postMessage(hosts);
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
  const answer = await Promise.race([Promise.resolve().then(work), new Promise((done) => setTimeout(done, 700, 'no answer'))]).catch((error) => error.name);
  document.getElementById('answers').append(name + '=' + answer + ' ');
};
(async () => {
  await navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).catch(() => {});
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
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));`;
