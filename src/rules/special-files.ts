import { DeliveryError } from '../errors.ts';
import { baseName } from './naming.ts';

export const DEPLOY_RECORD_PATH = '.well-known/screen-delivery.json';

/**
 * Files that change the whole repository or site: in the site's root folder, anywhere, or in these folders.
 * @see https://docs.github.com/pages/configuring-a-custom-domain-for-your-github-pages-site
 * @see https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
const SPECIAL_FILES: readonly (readonly [
  name: RegExp,
  scope: 'site' | 'anywhere' | readonly string[],
  effect: string,
])[] = [
  [/^cname$/, 'site', "it changes the site's domain"],
  [/^_config\.(?:ya?ml|toml)$/, 'site', 'it changes how Jekyll builds the site'],
  [/^\.nojekyll$/, 'site', 'it switches Jekyll off for the whole site'],
  [/^\.(?:gitattributes|gitignore|lfsconfig)$/, 'anywhere', 'it changes how git treats other files'],
  [/^\.gitmodules$/, [''], 'it adds other repositories to this one'],
  [
    /^screen-delivery\.json$/,
    ['.well-known/'],
    'it records who delivered a site that GitHub Actions deploys',
  ],
  [/^codeowners$/, ['', 'docs/', '.github/'], 'it decides who must approve changes'],
];

/**
 * What a file would change in the whole site or repository; `undefined` for an ordinary file.
 * @param siteRoot the site's root folder in the branch, empty or such as `docs/`; `null` if GitHub builds no site from it
 */
export function findEffect(path: string, siteRoot: string | null): string | undefined {
  const lower = path.toLowerCase();
  const name = baseName(lower);
  const folder = lower.slice(0, -name.length);
  const [, , effect] =
    SPECIAL_FILES.find(([pattern, scope]) => {
      const folders = scope === 'site' ? [siteRoot?.toLowerCase()] : scope;
      return pattern.test(name) && (folders === 'anywhere' || folders.includes(folder));
    }) ?? [];
  return effect;
}

/**
 * Refuses a file that would change the site or the repository as a whole. @see protocol 7 (prohibition 4)
 * @param isPart whether it is delivered with other files
 */
export function refuseSpecialFile(path: string, siteRoot: string | null, isPart = false): void {
  const effect = findEffect(path, siteRoot);
  if (effect === undefined) return;
  throw new DeliveryError('NOT_OURS', `${path} would affect more than itself: ${effect}`, {
    hint: (w) => {
      const way = isPart ? w.leaveOut(`**/${baseName(path)}`) : `set ${w.input('path')} to another path`;
      if (path === DEPLOY_RECORD_PATH) return way;
      return way + w.orSet('overwrite', 'true', ' if you want that');
    },
    leftBehind: [],
  });
}
