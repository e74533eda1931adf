import { DeliveryError } from '../errors.ts';
import { baseName } from './naming.ts';

/** A file that the repository or the site obeys, where it is at a certain place. */
interface SpecialFile {
  readonly applies: (path: string, siteFolder: string) => boolean;
  readonly effect: string;
}

const nameOf = (path: string): string => baseName(path).toLowerCase();

/** Whether a path is this name, in any case of letters, directly in the folder; the empty folder is the repository's root. */
const isIn = (folder: string, path: string, name: string): boolean =>
  path.toLowerCase() === (folder === '' ? name : `${folder.toLowerCase()}/${name}`);

/**
 * @see https://docs.github.com/pages/configuring-a-custom-domain-for-your-github-pages-site
 * @see https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
const SPECIAL_FILES: readonly SpecialFile[] = [
  { applies: (path, site) => isIn(site, path, 'cname'), effect: "it changes the site's domain" },
  {
    applies: (path, site) =>
      ['_config.yml', '_config.yaml', '_config.toml'].some((name) => isIn(site, path, name)),
    effect: 'it changes how Jekyll builds the site',
  },
  {
    applies: (path, site) => isIn(site, path, '.nojekyll'),
    effect: 'it switches Jekyll off for the whole site',
  },
  {
    applies: (path) => ['.gitattributes', '.gitignore', '.lfsconfig'].includes(nameOf(path)),
    effect: 'it changes how git treats other files',
  },
  { applies: (path) => isIn('', path, '.gitmodules'), effect: 'it adds other repositories to this one' },
  {
    applies: (path) => ['', 'docs', '.github'].some((folder) => isIn(folder, path, 'codeowners')),
    effect: 'it decides who must approve changes',
  },
];

/**
 * Refuses a file that would change the site or the repository as a whole.
 *
 * @param siteFolder the site's root folder in the branch: empty, or such as `docs`
 * @throws {DeliveryError} `NOT_OURS` with the reason.
 * @see protocol 7 (prohibition 4)
 */
export function refuseSpecialFile(path: string, siteFolder: string): void {
  const special = SPECIAL_FILES.find(({ applies }) => applies(path, siteFolder));
  if (special === undefined) return;
  throw new DeliveryError('NOT_OURS', `${path} is not only a page: ${special.effect}`, {
    step: 'check',
    hint: (w) =>
      `set ${w.input('path')} to another place, or ${w.input('overwrite', 'true')} if you want that`,
    leftBehind: [],
  });
}
