;;; emacs.el --- a session of Emacs with the server, without a screen -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0
;;
;;   PROGRAM=warpwright emacs -q --batch -l emacs.el kernel.py     (with eglot: Emacs 29, or Debian's elpa-eglot)
;;
;; Prints one line per answer; clients_test.cpp reads them. Ends with status 1 when something is missing.

(package-initialize)
(unless (require 'eglot nil t)
  (kill-emacs 77)) ; a test that is skipped
(require 'flymake)
(require 'python)

(defun say (text &rest more)
  (princ (concat (apply #'format text more) "\n")))
(defun wait-for (what holds)
  "Runs what Emacs does meanwhile until HOLDS gives something; its value."
  (let ((end (time-add nil 60)) (value nil))
    (while (and (not (setq value (funcall holds))) (time-less-p nil end))
      (accept-process-output nil 0.02))
    (unless value
      (say "no %s" what)
      (kill-emacs 1))
    value))
(defun first-line (text) (car (split-string text "\n")))
(defun go-to (word)
  (goto-char (point-min))
  (search-forward word)
  (goto-char (match-beginning 0)))

;; The lines of docs/guide/editor.md.
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((python-mode python-ts-mode) "warpwright" "lsp")))
;; The program that is tested stands first on the path under that name.
(setq exec-path (cons (file-name-directory (getenv "PROGRAM")) exec-path))

(setq eglot-sync-connect 60
      eglot-confirm-server-initiated-edits nil
      flymake-no-changes-timeout 0.05
      eglot-send-changes-idle-time 0.05)
(set-buffer (find-file-noselect (car command-line-args-left)))
(setq command-line-args-left nil)
(python-mode)
(apply #'eglot (eglot--guess-contact))
(wait-for "server" #'eglot-current-server)

;; The file has one misspelt word.
(wait-for "diagnostics" (lambda () (flymake-start) (flymake-diagnostics)))
(dolist (each (flymake-diagnostics))
  (save-excursion
    (goto-char (flymake-diagnostic-beg each))
    (say "diagnostic %d:%d %s" (line-number-at-pos) (1+ (current-column))
         (first-line (flymake-diagnostic-text each)))))

;; Its quick fix, applied by Emacs.
(go-to "cta_synk")
(let ((action (seq-find (lambda (each) (string-prefix-p "change to" (plist-get each :title)))
                        (eglot-code-actions (point) (+ (point) 8)))))
  (say "action %s" (plist-get action :title))
  (eglot--apply-workspace-edit (plist-get action :edit)))
(eglot--signal-textDocument/didChange) ; what it does when the user is idle, which a batch never is
(wait-for "diagnostics to go" (lambda () (flymake-start) (null (flymake-diagnostics))))
(say "diagnostics 0")

;; Hover at the first `staged`.
(go-to "staged")
(let* ((answer (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                                (eglot--TextDocumentPositionParams)))
       (shown (eglot--hover-info (plist-get answer :contents) (plist-get answer :range))))
  (say "hover %s" (first-line (substring-no-properties shown))))

;; Completion of what is typed at the end of the kernel.
(goto-char (point-max))
(insert "    T.cuda.cta_s")
(eglot--signal-textDocument/didChange)
(let* ((found (eglot-completion-at-point))
       (all (all-completions (buffer-substring (nth 0 found) (nth 1 found)) (nth 2 found))))
  (say "completion %s" (string-join (sort (mapcar #'substring-no-properties all) #'string<) " ")))

(set-buffer-modified-p nil)
(eglot-shutdown (eglot--current-server-or-lose))
(say "the end")
(kill-emacs 0)
