import { DESKTOP } from './picture.ts';
import { evaluateApart, type PageAccess } from './view-page.ts';

/** The window of a phone, in CSS pixels. */
const PHONE = { width: 390, height: 844 } as const;

/** Once the page had two frames to adapt to its new width. */
const MEASURE = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
  const { documentElement: root, body, scrollingElement } = document;
  const isClipped = [root, body].some((one) => one && /hidden|clip/.test(getComputedStyle(one).overflowX));
  return isClipped || !scrollingElement ? 0 : Math.max(0, scrollingElement.scrollWidth - ${PHONE.width});
})`;

/** CSS pixels by which the page is wider than a phone; the window is a desktop's again afterwards. */
export async function measureOverflow({ page, session }: PageAccess): Promise<number> {
  await session.send('Emulation.setDeviceMetricsOverride', { ...PHONE, deviceScaleFactor: 1, mobile: false });
  const wider = await evaluateApart(page.mainFrame(), MEASURE);
  await session.send('Emulation.setDeviceMetricsOverride', {
    ...DESKTOP,
    deviceScaleFactor: 1,
    mobile: false,
  });
  return typeof wider === 'number' ? wider : 0;
}
