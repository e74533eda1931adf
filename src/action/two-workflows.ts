import { TOOL } from '../protocol/words.ts';

/**
 * How a pull request from a fork gets its preview: its own code runs with a token that may only read, and what
 * it made is delivered by a workflow of the default branch.
 *
 * @see https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#workflow_run
 */
export const TWO_WORKFLOWS = `# .github/workflows/preview-build.yml runs the pull request's code; its token may only read
name: Preview build
on: pull_request
permissions: { contents: read }
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - run: ./build.sh # makes out/page.html
      - uses: actions/upload-artifact@v4
        with: { name: preview, path: out/page.html }

# .github/workflows/preview.yml is the default branch's own, and runs nothing of the pull request
name: Preview
on:
  workflow_run: { workflows: [Preview build], types: [completed] }
permissions: { actions: read, contents: write, pages: write, pull-requests: write }
jobs:
  deliver:
    if: github.event.workflow_run.conclusion == 'success'
    runs-on: ubuntu-latest
    steps:
      - uses: actions/download-artifact@v4
        with:
          name: preview
          path: preview
          run-id: \${{ github.event.workflow_run.id }}
          github-token: \${{ github.token }}
      - uses: OWNER/${TOOL.name}@v1
        with:
          file: preview/page.html
          path: previews/\${{ github.event.workflow_run.head_repository.owner.login }}/\${{ github.event.workflow_run.head_branch }}/
          comment: true`;
